#!/usr/bin/env bash
# Makes a Motion JPEG video on a fresh machine: installs missing packages, builds, makes an
# image sequence from the photos in samples/media, encodes it, describes it, decodes it.
# usage: samples/quickstart.sh [FOLDER]   (for the results; default build/quickstart)
# SPDX-License-Identifier: MIT
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
out=${1:-build/quickstart}

step() { printf '\n== %s\n' "$1"; }

step "packages"
.ci/setup.sh

step "build (build/release)"
cmake --preset release -DZERORUN_UNITY=ON >/dev/null
cmake --build --preset release --target zerorun_program pan_zoom

step "an image sequence from photos: $out/frames"
rm -rf "$out"
mkdir -p "$out/frames" "$out/decoded"
build/release/samples/pan_zoom "$out/frames/%05d.png" 1280x720 96 \
  samples/media/raccoon.jpg samples/media/coffee.png

zerorun=build/release/bin/zerorun
run() { printf '\n$ %s\n' "$*" | sed "s|$zerorun|zerorun|"; "$@"; }

step "encode, describe, decode"
run $zerorun encode "$out/frames/%05d.png" -o "$out/quickstart.mov" --fps 24 -q 90 \
  --stats "$out/encode.json"
run $zerorun info "$out/quickstart.mov"
run $zerorun decode "$out/quickstart.mov" -o "$out/decoded/%05d.png" --stats "$out/decode.json"

step "speed: coding alone, from file to file, and what it waited for"
for verb in encode decode; do
  # The file ends with a summary in one line.
  summary=$(sed -n 's/^  "summary": //p' "$out/$verb.json")
  value() { sed -nE "s/.*\"$1\":\"?([^,\"}]*).*/\1/p" <<<"$2"; }
  LC_ALL=C printf '%s  %.2f ms a frame; from file to file %.1f frames/s. %s\n' "$verb" \
    "$(value mean "${summary#*_ms\":}")" "$(value fps "$summary")" \
    "$(sed -nE 's/.*"sentence":"([^"]*)".*/\1/p' <<<"$summary")"
done
printf '\nPlay it:  zerorun play %s/quickstart.mov   (or any other player)\n' "$out"
