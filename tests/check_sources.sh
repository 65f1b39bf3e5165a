#!/usr/bin/env bash
# What holds for the sources as text: layout of the code, who may include whom, first lines.
# SPDX-License-Identifier: MIT
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
failed=0

complain() {
  printf '%s\n' "$1" >&2
  failed=1
}

# Lines of `git grep` that should not be there: forbid SENTENCE PATTERN PATH...
forbid() {
  local sentence=$1 pattern=$2 found
  shift 2
  found=$(git grep -nE "$pattern" -- "$@" || true)
  [ -z "$found" ] || complain "$sentence"$'\n'"$found"
}

mapfile -t sources < <(git ls-files '*.cpp' '*.hpp' '*.cu' '*.cuh' '*.h')

# Debian 12's clang-format is the one the layout is made with; another version differs in details.
if clang-format --version 2>/dev/null | grep -q 'version 14\.'; then
  clang-format --dry-run --Werror "${sources[@]}" || complain "run clang-format -i on these files"
else
  echo "clang-format 14 is not installed, the layout is not checked" >&2
fi

for file in "${sources[@]}"; do
  head -20 "$file" | grep -q 'SPDX-License-Identifier: MIT' || complain "$file: no SPDX line at the top"
done

include='^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"]'
forbid "codec knows neither io, cuda nor apps:" "$include"'(io|cuda|apps|tests)/' codec
forbid "codec uses no I/O of zerorun:" "$include"'zerorun/(io|cuda)' codec
forbid "codec includes no CUDA, FFmpeg or OpenCV header:" \
  "$include"'(cuda|cub/|thrust/|nv|lib(av|sw)|opencv)' codec
forbid "io knows neither stages, cuda nor apps:" "$include"'(codec|cuda|apps|tests)/' io
forbid "io includes no CUDA header:" "$include"'(cuda|cub/|thrust/)' io
forbid "cuda knows neither io nor apps:" "$include"'(io|apps|tests)/|'"$include"'zerorun/io' cuda
forbid "apps use public headers only:" "$include"'(codec|io|cuda|tests)/' apps samples \
  ':(exclude)apps/bench'
forbid "apps leave files and codecs to io:" "$include"'(lib(av|sw)|opencv|cuda)' apps ':(exclude)apps/bench'
forbid "encode does not include decode:" "$include"'[^">]*decode/' codec/encode cuda/encode
forbid "decode does not include encode:" "$include"'[^">]*encode/' codec/decode cuda/decode
forbid "public headers include public headers only:" "$include"'(codec|io|cuda|apps)/' \
  ':(glob)**/include/zerorun/**'
forbid "the library prints nothing:" '\b(printf|fprintf|puts|fputs) *\(|std::c(out|err)\b' \
  'codec/*.cpp' 'codec/*.hpp' 'io/*.cpp' 'io/*.hpp' 'cuda/*.cu' 'cuda/*.cpp'

# README.md quotes files as they are: "<!-- PATH -->", a fence, the file, a fence.
grep -oE '^<!-- [^ ]+ -->$' README.md | cut -d' ' -f2 | {
  while read -r path; do
    quoted=$(sed -n "\\|^<!-- $path -->\$|,/^\`\`\`\$/p" README.md | sed '1,2d;$d')
    [ "$quoted" = "$(cat "$path")" ] || { echo "README.md quotes another $path" >&2; exit 1; }
  done
} || failed=1

[ "$failed" -eq 0 ] && echo "${#sources[@]} source files are as they should be"
exit "$failed"
