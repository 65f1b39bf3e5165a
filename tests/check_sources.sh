#!/usr/bin/env bash
# Checks the sources as text: layout of the code, who may include whom, first lines, quoted files.
# Prints how many lines each floor has, and fails above its budget.
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
floor cuda/recode 'cuda/(recode|encode|decode|base)|codec/(pipeline|syntax|base|arith)'
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
  cuda ':(exclude)cuda/encode/device_encoder.cpp' ':(exclude)cuda/decode/device_decoder.cpp'
io_headers=$(git ls-files io/include/zerorun | sed -E 's|.*/(.*)\.hpp|\1|' | paste -sd'|')
forbid "codec uses no I/O of zerorun:" "$include"'zerorun/(cuda|'"$io_headers)" codec
forbid "codec includes no CUDA, FFmpeg or OpenCV header:" \
  "$include"'(cuda|cub/|thrust/|nv|lib(av|sw)|opencv)' codec
forbid "io includes no CUDA header:" "$include"'(cuda|cub/|thrust/)' io ':(exclude)io/include/zerorun/opencv.hpp'
forbid "cuda knows no io:" "$include"'zerorun/('"$io_headers)" cuda
forbid "apps leave files and codecs to io; only the benchmark's coders and peers and the Python package use libraries themselves:" \
  "$include"'(lib(av|sw)|opencv|cuda|cub/|nv|jpeglib|zerorun/(cuda|ffmpeg|opencv))' apps \
  ':(exclude)apps/bench/measure' ':(exclude)apps/bench/peers' \
  ':(exclude)apps/python'
forbid "public headers include public headers only:" "$include"'(codec|io|cuda|apps)/' \
  ':(glob)**/include/zerorun/**'
forbid "the library prints nothing:" '\b(printf|fprintf|puts|fputs) *\(|std::c(out|err)\b' \
  'codec/*.cpp' 'codec/*.hpp' 'io/*.cpp' 'io/*.hpp' 'cuda/*.cu' 'cuda/*.cpp'

# The budgets of a floor's sources in lines, and of all floors without the tests in files.
code=(cpp hpp cu cuh h py js)
sources_of() { git ls-files -- "${code[@]/#/$1/*.}"; }  # FOLDER
floor_files=0
printf '%8s %8s  %s\n' lines limit floor
budget() {  # FLOOR LIMIT
  local files lines
  mapfile -t files < <(sources_of "$1")
  lines=$(cat -- "${files[@]}" | wc -l)
  printf '%8d %8d  %s\n' "$lines" "$2" "$1"
  [ "$lines" -le "$2" ] || complain "$1 has more lines than its $2"
  [ "$1" = tests ] || floor_files=$((floor_files + ${#files[@]}))
}
budget codec 22000
budget cuda 20000
budget io 16500
budget apps 28500
budget tests 55000
printf '%8d %8d  files of codec, cuda, io and apps\n' "$floor_files" 700
[ "$floor_files" -le 700 ] || complain "codec, cuda, io and apps have more files than their 700"

# The documents. README.md is the front page; every other README.md belongs to the folder that it lies in.
mapfile -t readmes < <(git ls-files README.md '*/README.md')
documents=("${readmes[@]}" .github/CONTRIBUTING.md .github/SECURITY.md)
lines=$(wc -l <README.md) bytes=$(wc -c <README.md)
[ "$lines" -le 250 ] || complain "README.md has $lines lines; 250 are allowed"
[ "$bytes" -le 16384 ] || complain "README.md has $bytes bytes; 16384 are allowed"
for readme in "${readmes[@]}"; do
  lines=$(wc -l <"$readme")
  [ "$readme" = README.md ] || [ "$lines" -le 150 ] || complain "$readme has $lines lines; 150 are allowed"
done
lines=$(wc -l <.github/CHANGELOG.md)
[ "$lines" -le 60 ] || complain ".github/CHANGELOG.md has $lines lines; 60 are allowed"

# Their text without tables and code: a line "PATH:NUMBER: TEXT" each. Code is fenced, or indented by four spaces.
prose() {
  awk 'FNR == 1 { fenced = 0 }
    /^```/ { fenced = !fenced; next }
    !fenced && !/^    / && !/^\|/ { print FILENAME ":" FNR ": " $0 }' "$@"
}
long=$(prose "${readmes[@]}" | LC_ALL=C.UTF-8 grep -E '^[^:]+:[0-9]+: .{121}' | cut -d: -f1,2 || true)
[ -z "$long" ] || complain "lines of text in a README.md have 120 characters at most:"$'\n'"$long"

# Files are quoted as they are: "<!-- PATH -->", a fence, the file, a fence.
for readme in "${readmes[@]}"; do
  while read -r path; do
    quoted=$(sed -n "\\|^<!-- $path -->\$|,/^\`\`\`\$/p" "$readme" | sed '1,2d;$d')
    [ "$quoted" = "$(cat "$path")" ] || complain "$readme quotes another $path"
  done < <(grep -oE '^<!-- [^ ]+ -->$' "$readme" | cut -d' ' -f2)
done

# Links lead to files of the repository, from the folder of the document.
for document in "${documents[@]}"; do
  while read -r link; do
    case $link in '' | http://* | https://* | mailto:*) continue ;; esac
    [ -e "$(dirname "$document")/$link" ] || complain "$document links to $link, which does not exist"
  done < <(grep -oE '\]\([^)]*\)' "$document" | sed -E 's/^\]\(//; s/\)$//; s/#.*//' | sort -u)
done

# Names of files in `code` exist: paths from the root, and sources from the folder of the document. A name may be a
# glob. Blocks of code name paths from the root.
is_there() {  # DOCUMENT NAME
  local folder
  for folder in . "$(dirname "$1")" {codec,cuda,io}/include; do
    compgen -G "$folder/$2" >/dev/null && return
  done
  # The walk of CONTRIBUTING.md gives the folder in the same line.
  [[ $1 == .github/* && -n $(git ls-files "*/$2") ]]
}
rooms='(codec|cuda|io|apps|samples|tests|\.ci|\.cmake|\.github)/'
for document in "${documents[@]}"; do
  while read -r name; do
    is_there "$document" "$name" || complain "$document names $name, which does not exist"
  done < <({
    grep -oE '`[^` ]+`' "$document" | tr -d '`' |
      grep -E "^$rooms|^[A-Za-z0-9_./*-]+\.(cpp|hpp|cu|cuh|c|h|py|sh|md|tsv|csv)\$" || true
    awk '/^```/ { fenced = !fenced; next } fenced || /^    /' "$document" |
      grep -oE "(^|[ =])$rooms[A-Za-z0-9_./-]+" | tr -d ' =' || true
  } | grep -vE '[{<$]' | sort -u)
done

[ "$failed" -eq 0 ] && echo "${#sources[@]} source files are as they should be"
exit "$failed"
