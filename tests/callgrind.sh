#!/usr/bin/env bash
# Instructions of a frame by callgrind: zerorun on the CPU beside libjpeg-turbo, one thread. They do
# not depend on what else the machine does. A frame's share is the difference between a run of
# `zerorun bench` with three timed frames and one with one. Valgrind has no AVX-512: zerorun takes
# the best instruction set below it.
# usage: tests/callgrind.sh [ZERORUN [WIDTHxHEIGHT...]]
#        (build/release/bin/zerorun, 1920x1080 and 3840x2160; needs valgrind)
# SPDX-License-Identifier: MIT
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
program=${1:-build/release/bin/zerorun}
shift || true
[ $# -gt 0 ] || set -- 1920x1080 3840x2160
command -v valgrind >/dev/null || { echo "callgrind.sh: valgrind is not installed" >&2; exit 2; }

# instructions ROW-GLOB FRAMES BENCH-OPTION...
instructions() {
  local only=$1 frames=$2
  shift 2
  valgrind --tool=callgrind --callgrind-out-file=/dev/null "$program" bench "$@" --device cpu \
    --threads 1 --cpu best --rotate 1 --frames "$frames" --warm-up 0 --repetitions 1 --only "$only" 2>&1 >/dev/null |
    sed -n 's/^==[0-9]*== Collected : //p'
}
# per_frame ROW-GLOB BENCH-OPTION...
per_frame() {
  local one three
  one=$(instructions "$1" 1 "${@:2}")
  three=$(instructions "$1" 3 "${@:2}")
  [ -n "$one" ] && [ -n "$three" ] || { echo "callgrind.sh: no row '$1' was measured" >&2; exit 1; }
  echo $(((three - one) / 2))
}
compare() {  # NAME BENCH-OPTION...
  local ours theirs
  ours=$(per_frame 'zerorun/cpu/host>host/latency/1' "${@:2}")
  theirs=$(per_frame 'libjpeg-turbo*/latency/1' "${@:2}")
  awk -v name="$1" -v ours="$ours" -v theirs="$theirs" \
    'BEGIN { printf "%-34s %10.2f %10.2f %7.2f\n", name, ours / 1e6, theirs / 1e6, ours / theirs }'
}

printf '%-34s %10s %10s %7s\n' "millions of instructions a frame" zerorun libjpeg ratio
for size in "$@"; do
  frame=synthetic:$size:photo
  compare "encode planes $size" "$frame" --operation encode
  compare "encode planes, optimal $size" "$frame" --operation encode --huffman optimal
  compare "encode RGB $size" "$frame" --operation encode --pixels rgb24
  compare "decode to planes $size" "$frame" --operation decode --streams libjpeg
  compare "decode to RGB $size" "$frame" --operation decode --streams libjpeg --pixels rgb24
done
