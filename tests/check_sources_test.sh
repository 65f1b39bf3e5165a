#!/usr/bin/env bash
# Shows that every rule of check_sources.sh fails when it is broken: plants a violation of each kind
# in a copy of the sources, and expects a complaint about each.
# SPDX-License-Identifier: MIT
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
checker=tests/check_sources.sh
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
mkdir "$copy/tree" "$copy/bin"
git ls-files -z | tar --null --create --files-from=- | tar --extract --directory="$copy/tree"

# The formatter takes long for the whole tree, so here it sees one planted file only.
export FORMATTER
FORMATTER=$(command -v clang-format || true)
cat >"$copy/bin/clang-format" <<'STUB'
#!/usr/bin/env bash
[ -n "$FORMATTER" ] || exit 1
[ "$1" = --version ] && exec "$FORMATTER" --version
for file; do [[ $file != */planted_layout.hpp ]] || exec "$FORMATTER" --dry-run --Werror "$file"; done
STUB
chmod +x "$copy/bin/clang-format"

git -C "$copy/tree" init -q
check() {  # the checker's output and exit code for the copy
  git -C "$copy/tree" add --all --force
  PATH=$copy/bin:$PATH "$copy/tree/$checker" 2>&1
}
check >"$copy/clean" || { cat "$copy/clean"; echo "the sources break a rule before any is planted" >&2; exit 1; }

expected=()  # "SENTENCE<tab>PATH<tab>LINE", as the checker's output has them
# Writes LINE into the new file PATH and expects it under SENTENCE: plant SENTENCE PATH LINE
plant() {
  local file=$copy/tree/$2
  mkdir -p "$(dirname "$file")"
  [ -e "$file" ] || echo "// SPDX-License-Identifier: MIT" >"$file"
  echo "$3" >>"$file"
  expected+=("$1"$'\t'"$2"$'\t'"$3")
}

# Every floor includes, in a file of each kind, every folder that it may not include.
folders=(tests)
floor() { folders+=("$1"); }
floors=$(grep '^floor ' "$checker")
eval "$floors"
floor() {
  local folder kind
  for folder in "${folders[@]}"; do
    [[ $folder =~ ^($2)$ ]] && continue
    for kind in cpp hpp cu cuh; do
      plant "$1 stands on $2 alone:" "$1/planted_floor.$kind" "#include \"$folder/any.hpp\""
    done
    plant "$1 stands on $2 alone:" "$1/planted_floor.cpp" "#include <$folder/any.hpp>"
  done
}
eval "$floors"

plant "include lines name files from the root of the repository:" \
  codec/base/planted_relative.hpp '#include "../arith/integer.hpp"'
plant "the C interface of the device coders alone includes codec/capi:" \
  cuda/encode/planted_capi.hpp '#include "codec/capi/convert.hpp"'
plant "codec uses no I/O of zerorun:" codec/api/planted_io.cpp '#include <zerorun/ffmpeg.hpp>'
plant "codec includes no CUDA, FFmpeg or OpenCV header:" codec/api/planted_foreign.cpp \
  '#include <opencv2/core.hpp>'
plant "io includes no CUDA header:" io/base/planted_cuda.hpp '#include <cuda_runtime.h>'
plant "cuda knows no io:" cuda/base/planted_io.cu '#include "zerorun/io.hpp"'
plant "apps leave files and codecs to io; only the benchmark's coders and peers and the Python package use libraries themselves:" \
  apps/encode/planted_codec.cpp '  #  include <libavcodec/avcodec.h>'
plant "public headers include public headers only:" io/include/zerorun/planted.hpp \
  '#include "io/base/location.hpp"'
plant "the library prints nothing:" codec/base/planted_print.cpp 'void f() { std::puts("x"); }'

unplanted=$(sed -nE 's/^forbid "([^"]*)".*/\1/p' "$checker" |
  grep -vxFf <(printf '%s\n' "${expected[@]%%$'\t'*}") || true)
[ -z "$unplanted" ] || { echo "no violation is planted for: $unplanted" >&2; exit 1; }

# Rules whose complaint is one line.
sentences=("codec/attic is no floor of the house" "cuda/attic is no floor of the house"
  "codec/base/planted_licence.hpp: no SPDX line at the top"
  "README.md quotes another samples/encode_minimal.cpp"
  "codec/README.md quotes another tests/install/consumer/CMakeLists.txt"
  "README.md has 1251 lines; 250 are allowed"
  "README.md has 20000 bytes; 16384 are allowed"
  "io/README.md has 151 lines; 150 are allowed"
  ".github/CHANGELOG.md has 61 lines; 60 are allowed"
  "apps/README.md:1"
  "README.md links to planted.md, which does not exist"
  "io/README.md links to apps/planted.png, which does not exist"
  "codec/README.md names base/planted.hpp, which does not exist"
  "codec/README.md names pipeline/*.planted.py, which does not exist"
  "codec/README.md names tests/planted.sh, which does not exist"
  ".github/CONTRIBUTING.md names codec/api/planted.cpp, which does not exist"
  "codec has more lines than its 22000" "cuda has more lines than its 20000" "io has more lines than its 16500"
  "apps has more lines than its 28500" "tests has more lines than its 55000"
  "codec, cuda, io and apps have more files than their 700")
mkdir "$copy/tree/codec/attic" "$copy/tree/cuda/attic"
echo "// SPDX-License-Identifier: MIT" |
  tee "$copy/tree/codec/attic/planted.hpp" >"$copy/tree/cuda/attic/planted.cu"
echo "// no licence" >"$copy/tree/codec/base/planted_licence.hpp"
# As many lines as a floor may have, in a kind of source that no other rule looks at; and as many files as all may have.
budget() { head -n "$2" < <(yes '') >"$copy/tree/$1/planted_lines.js"; }  # FLOOR LIMIT
eval "$(grep -E '^budget [a-z]+ [0-9]+$' "$checker")"
touch "$copy"/tree/io/base/planted_{1..700}.js
echo "// more" >>"$copy/tree/samples/encode_minimal.cpp"
echo "\`codec/api/planted.cpp\`" >>"$copy/tree/.github/CONTRIBUTING.md"
echo "# more" >>"$copy/tree/tests/install/consumer/CMakeLists.txt"
(
  cd "$copy/tree"
  grow() {  # FILE LINES: empty lines at its end, so that it has so many
    head -n $(($2 - $(wc -l <"$1"))) < <(yes '') >>"$1"
  }
  echo "[a](planted.md) and [b](codec/README.md#c), [d](https://localhost/planted)" >>README.md
  grow README.md 1250
  printf '%*s\n' $((20000 - 1 - $(wc -c <README.md))) '' | tr ' ' '|' >>README.md
  echo "![a](apps/planted.png)" >>io/README.md
  grow io/README.md 151
  grow .github/CHANGELOG.md 61
  # 121 characters, each of two bytes; then 120 characters, a table and code, which are no violations.
  { printf 'ä%.0s' {1..121} && echo && printf 'ä%.0s' {1..120} && echo && printf '|%.0s' {1..200} && echo &&
    printf '    %0200d\n```\n%0200d\n```\n' 1 2; } | cat - apps/README.md >long && mv long apps/README.md
  printf '%s\n' '`base/planted.hpp`, `pipeline/*.planted.py`, `base/status.cpp` and `pipeline/*_pipeline.cpp`' \
    '' '    bash tests/planted.sh --no tests/run.sh' >>codec/README.md
)
if "$copy/bin/clang-format" --version 2>/dev/null | grep -q 'version 14\.'; then
  echo '// SPDX-License-Identifier: MIT'$'\n''int  x ;' >"$copy/tree/codec/base/planted_layout.hpp"
  sentences+=("run clang-format -i on these files")
fi

if check >"$copy/found"; then
  echo "$checker passes with violations of all kinds" >&2
  exit 1
fi
# Lines of `git grep` get the sentence above them in front.
awk -v OFS='\t' '
  match($0, /^[^ :]+:[0-9]+:/) { split($0, part, ":"); print sentence, part[1], substr($0, RLENGTH + 1); next }
  { sentence = $0; print }' "$copy/found" >"$copy/complaints"
missed=$(printf '%s\n' "${expected[@]}" "${sentences[@]}" | grep -vxFf "$copy/complaints" || true)
# Of the lines at the top of apps/README.md only the first is too long; the names in codec/README.md with a file are right.
surplus=$(grep -xE 'apps/README.md:[0-9]+|codec/README.md names .*(status|_pipeline|tests/run).*' "$copy/complaints" |
  grep -vxF apps/README.md:1 || true)
[ -z "$surplus" ] || { printf '%s complains about what is right:\n%s\n' "$checker" "$surplus" >&2; exit 1; }
if [ -n "$missed" ]; then
  printf '%s does not find:\n%s\n' "$checker" "$missed" >&2
  exit 1
fi
echo "$checker finds all of $((${#expected[@]} + ${#sentences[@]})) planted violations"
