#!/usr/bin/env bash
# Checks the sources as text: layout of the code, who may include whom, first lines, quoted files.
# SPDX-License-Identifier: MIT
set -euo pipefail
export GIT_CONFIG_GLOBAL=/dev/null  # the user's colours and columns are not for this script
cd "$(dirname "${BASH_SOURCE[0]}")/.."
failed=0

complain() {
  printf '%s\n' "$1" >&2
  failed=1
}

# Complains with SENTENCE about lines that match PATTERN: forbid SENTENCE PATTERN PATH...
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

unlicensed=$(awk 'FNR <= 20 && /SPDX-License-Identifier: MIT/ { found[FILENAME] = 1 }
  END { for (i = 1; i < ARGC; ++i) if (!(ARGV[i] in found)) print ARGV[i] ": no SPDX line at the top" }' \
  "${sources[@]}")
[ -z "$unlicensed" ] || complain "$unlicensed"

include='^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"]'

# The floors of the house: floor FOLDER MAY_INCLUDE [PATHSPEC...]. MAY_INCLUDE is a regular expression
# of folders. Rules for public headers (zerorun/*.hpp) follow below.
floor() {
  local found
  found=$(git grep -nE "$include(codec|cuda|io|apps|samples|tests)/" -- "$1" "${@:3}" |
    grep -vE "include[[:space:]]*(\"($2)/[^/]+\"|<cuda/std/)" || true)
  [ -z "$found" ] || complain "$1 stands on $2 alone:"$'\n'"$found"
}
floor codec/arith 'codec/arith'
floor codec/base 'codec/(base|arith)'
floor codec/syntax 'codec/(syntax|base|arith)'
floor codec/entropy 'codec/(entropy|base)'
floor codec/encode 'codec/(encode|syntax|base|arith)'
floor codec/decode 'codec/(decode|syntax|base|arith)'
floor codec/fast 'codec/(fast|encode|decode|syntax|base|arith)'
floor codec/pipeline 'codec/(pipeline|fast|encode|decode|syntax|base|arith)'
floor codec/api 'codec/(api|pipeline|encode|decode|syntax|base|arith)'
floor codec/capi 'codec/(capi|base)'
floor cuda/base 'cuda/base|codec/(syntax|base|arith)'
floor cuda/entropy 'cuda/(entropy|base)|codec/(base|arith)'
floor cuda/stages 'cuda/(stages|base)|codec/(pipeline|encode|decode|syntax|base|arith)'
floor cuda/encode 'cuda/(encode|stages|base)|codec/(capi|pipeline|encode|syntax|base|arith)'
floor cuda/decode 'cuda/(decode|stages|base)|codec/(capi|pipeline|decode|syntax|base|arith)'
floor io/base 'io/base|codec/(base|arith)'
floor io/samples 'io/samples|codec/(base|arith)'
floor io/metadata 'io/(metadata|samples)|codec/(base|arith)'
floor io/mjpeg 'io/(mjpeg|base|samples)|codec/base'
floor io/output 'io/(output|mjpeg|base|samples)|codec/base'
floor io/raw 'io/(raw|output|base|samples)|codec/base'
floor io/pictures 'io/(pictures|output|mjpeg|metadata|base|samples)|codec/base'
floor io/ffmpeg 'io/(ffmpeg|output|mjpeg|base|samples)|codec/base'
floor io/input 'io/(input|raw|pictures|output|mjpeg|base|samples)|codec/base'
floor io/gstreamer 'io/(gstreamer|samples)|codec/base'
floor apps 'apps(/[a-z]+)*|codec/(api|base|arith)'
floor apps/python 'apps/python/binding|codec/base'
floor samples 'samples'
# Every folder of codec, cuda and io has its line above.
for folder in $(git ls-files 'codec/*.?pp' 'cuda/*.?pp' 'cuda/*.cu*' 'io/*.?pp' | cut -d/ -f1-2 | sort -u); do
  case $folder in
    */include | cuda/together.cu) ;;
    *) grep -q "^floor $folder " "${BASH_SOURCE[0]}" || complain "$folder is no floor of the house" ;;
  esac
done
forbid "include lines name files from the root of the repository:" \
  '^[[:space:]]*#[[:space:]]*include[[:space:]]*"(\.|[^/]*$)' codec cuda io apps samples
forbid "the C interface of the device coders alone includes codec/capi:" "$include"'codec/capi/' \
  cuda ':(exclude)cuda/*/*_capi.cpp'
io_headers=$(git ls-files io/include/zerorun | sed -E 's|.*/(.*)\.hpp|\1|' | paste -sd'|')
forbid "codec uses no I/O of zerorun:" "$include"'zerorun/(cuda|'"$io_headers)" codec
forbid "codec includes no CUDA, FFmpeg or OpenCV header:" \
  "$include"'(cuda|cub/|thrust/|nv|lib(av|sw)|opencv)' codec
forbid "io includes no CUDA header:" "$include"'(cuda|cub/|thrust/)' io ':(exclude)io/include/zerorun/opencv.hpp'
forbid "cuda knows no io:" "$include"'zerorun/('"$io_headers)" cuda
forbid "apps leave files and codecs to io; only the benchmark's coders, peers and metrics and the Python package use libraries themselves:" \
  "$include"'(lib(av|sw)|opencv|cuda|cub/|nv|jpeglib|zerorun/(cuda|ffmpeg|opencv))' apps \
  ':(exclude)apps/bench/measure' ':(exclude)apps/bench/peers' ':(exclude)apps/bench/quality/cuda' \
  ':(exclude)apps/python'
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

# The documents name files that exist.
for document in README.md .github/CONTRIBUTING.md; do
  for path in $(grep -oE '`(codec|cuda|io|apps|samples|tests|\.ci)/[^ `*{]*`' "$document" | tr -d '`' | sort -u); do
    [ -e "$path" ] || complain "$document names $path, which does not exist"
  done
done

[ "$failed" -eq 0 ] && echo "${#sources[@]} source files are as they should be"
exit "$failed"
