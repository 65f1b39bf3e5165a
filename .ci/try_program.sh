#!/bin/sh
# Tries a program `zerorun` on files that this script makes: coding, containers, pictures, what --version says.
# usage: try_program.sh PROGRAM FOLDER          (with sh, cat, head, yes and cmp alone)
# SPDX-License-Identifier: MIT
set -eu
program=$1
folder=$(mktemp -d "$2/zerorun.XXXXXX")
trap 'rm -rf "$folder"' EXIT
cd "$folder"

fail() {
  echo "try_program: $1" >&2
  exit 1
}
# expect WORD COMMAND...: what the command prints has the word.
expect() {
  word=$1
  shift
  said=$("$@" 2>&1) || fail "'$*' failed: $said"
  case $said in
    *"$word"*) ;;
    *) fail "'$*' did not say '$word': $said" ;;
  esac
}

{
  echo "YUV4MPEG2 W64 H48 F25:1 Ip A1:1 C420jpeg"
  for frame in 1 2 3; do
    echo FRAME
    yes "frame $frame of a picture that repeats" | head -c 4608
  done
} >in.y4m

"$program" encode in.y4m -o out.mjpeg --device cpu --quiet --verify
expect "64x48" "$program" info out.mjpeg
"$program" decode out.mjpeg -o out.y4m --device cpu --quiet
[ "$(head -c 9 out.y4m)" = YUV4MPEG2 ] || fail "decode wrote no YUV4MPEG2"
expect "zerorun " "$program" --version
case $said in
  *+ffmpeg*)
    "$program" encode in.y4m -o out.mov --device cpu --quiet
    expect "64x48" "$program" info out.mov
    ;;
esac
case $said in
  *+opencv*)
    "$program" decode out.mjpeg -o 'out%d.tiff' --device cpu --quiet
    "$program" encode 'out%d.tiff' -o again.mjpeg --device cpu --quiet
    ;;
esac
expect "cpu" "$program" devices
"$program" --version
