#!/usr/bin/env bash
# The two commands of README.md on a system that nobody has touched: makes one of Debian's packages in a folder, clones
# the last commit into it, and runs the commands there as a new user does. Makes the Debian packages, installs them, and
# compares the bytes of what they code with those of the systems before. Compiles the CUDA library by Debian 13's own
# CUDA. Removes the folder, and ends with a table of the seconds that each step took.
# usage: tests/systems.sh debian12|debian13|sid [STEP...]    (steps: quickstart tests packages cuda; default: all)
# Needs root and debootstrap, 8 GB of disk in ${TMPDIR:-/var/tmp}, and Debian's packages.
# SPDX-License-Identifier: MIT
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
usage() { sed -n '6s/^# //p' tests/systems.sh >&2; exit 2; }

name=${1:-}
case $name in
  debian12) suite=bookworm ;;
  debian13) suite=trixie ;;
  sid) suite=sid ;;
  *) usage ;;
esac
shift
for word in "$@"; do case $word in quickstart | tests | packages | cuda) ;; *) usage ;; esac; done
steps=${*:-quickstart tests packages cuda}
[ "$(id -u)" -eq 0 ] || { echo "systems.sh: debootstrap and chroot need root" >&2; exit 1; }
command -v debootstrap >/dev/null || { echo "systems.sh: there is no debootstrap: apt-get install debootstrap" >&2; exit 1; }

# In namespaces of its own: mounts and processes end with it, however it ends.
if [ -z "${ZERORUN_SYSTEM_FOLDER:-}" ]; then
  folder=$(mktemp -d "${TMPDIR:-/var/tmp}/zerorun-$name.XXXXXX")
  chmod 755 "$folder"  # apt downloads as a user of its own
  trap 'rm -rf --one-file-system "$folder"' EXIT
  code=0
  ZERORUN_SYSTEM_FOLDER=$folder unshare --mount --pid --fork --kill-child "tests/systems.sh" "$name" $steps || code=$?
  exit $code
fi
folder=$ZERORUN_SYSTEM_FOLDER
trap 'exit 130' INT TERM

begin=0 title="" table=()
step() {
  [ -z "$title" ] || table+=("$(printf '%8d  %s' $((SECONDS - begin)) "$title")")
  title=$1 begin=$SECONDS
  printf '\n== %s: %s (%d s)\n' "$name" "$1" "$SECONDS"
}
finish() {
  local code=$?
  [ "$code" -eq 0 ] || title+=" (FAILED)"
  table+=("$(printf '%8d  %s' $((SECONDS - begin)) "$title")")
  printf '\n%8s  %s\n' seconds "$name"
  printf '%s\n' "${table[@]}"
}
trap finish EXIT
wants() { [[ " $steps " == *" $1 "* ]]; }

# As root in the clone, and with nothing of this machine's environment.
inside() {
  chroot "$folder" env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    LANG=C.UTF-8 ${CMAKE_BUILD_PARALLEL_LEVEL:+"CMAKE_BUILD_PARALLEL_LEVEL=$CMAKE_BUILD_PARALLEL_LEVEL"} \
    CMAKE_CXX_COMPILER_LAUNCHER=ccache CMAKE_CUDA_COMPILER_LAUNCHER=ccache CCACHE_BASEDIR=/root/zerorun \
    CCACHE_NOHASHDIR=true PIP_CERT=/etc/ssl/certs/ca-certificates.crt bash -euc "cd /root/zerorun; $1" </dev/null
}

step "a minimal system"
debootstrap --variant=minbase "$suite" "$folder" >"$folder.log" || { tail "$folder.log"; rm "$folder.log"; exit 1; }
rm "$folder.log"
echo force-unsafe-io >"$folder/etc/dpkg/dpkg.cfg.d/unsafe"  # a crash may lose it
for file in /etc/resolv.conf /etc/hosts; do [ ! -e $file ] || cat $file >"$folder$file"; done
# The certificates that this machine trusts besides Debian's, for pip.
mkdir -p "$folder/usr/local/share/ca-certificates"
cp /usr/local/share/ca-certificates/*.crt "$folder/usr/local/share/ca-certificates" 2>/dev/null || true
mount -t proc proc "$folder/proc"
mount -t devpts devpts "$folder/dev/pts" -o newinstance,ptmxmode=0666
mount -t tmpfs tmpfs "$folder/dev/shm"
git clone -q --no-hardlinks . "$folder/root/zerorun"
# What was compiled before is not compiled again: ccache looks at the compiler, too.
cache=${CCACHE_DIR:-$HOME/.cache/ccache}
mkdir -p "$cache" "$folder/root/.cache/ccache"
mount --bind "$cache" "$folder/root/.cache/ccache"

if wants quickstart; then
  step "samples/quickstart.sh"
  inside samples/quickstart.sh
fi

if wants tests; then
  step "tests/run.sh quick"
  inside "tests/run.sh quick"
fi

if wants packages; then
  step "Debian packages: make, install, code"
  # Of Matroska files the packets are compared: their headers differ between versions of FFmpeg.
  inside ".ci/setup.sh
    cmake --preset release -B build/package -DZERORUN_UNITY=ON -DZERORUN_TESTS=OFF >/dev/null
    cmake --build build/package
    cpack --config build/package/CPackConfig.cmake -G DEB -B build/packages >/dev/null
    apt-get install -y -qq --no-install-recommends ./build/packages/*.deb >/dev/null
    build/package/samples/pan_zoom build/packages/%05d.png 320x180 12 samples/media/raccoon.jpg samples/media/coffee.png
    cd build/packages
    /usr/bin/zerorun --version
    for kind in mov mp4 mkv avi mjpeg; do /usr/bin/zerorun encode %05d.png -o coded.\$kind --fps 24 --quiet; done
    /usr/bin/zerorun copy coded.mkv -o coded_mkv.mjpeg --quiet
    rm coded.mkv
    /usr/bin/zerorun encode 00001.png -o coded.jpg -q 97 --huffman optimal --subsampling 444 --quiet
    /usr/bin/zerorun decode coded.mov -o decoded.y4m --quiet
    sha256sum coded* decoded.y4m >sums"
  sums=build/systems/$(git rev-parse --short HEAD)
  mkdir -p "$sums"
  cp "$folder/root/zerorun/build/packages/sums" "$sums/$name"
  for other in "$sums"/*; do
    diff "$other" "$sums/$name" || { echo "systems.sh: $name codes other bytes than $(basename "$other")" >&2; exit 1; }
  done
fi

if wants cuda && [ "$name" = debian13 ]; then
  step "the CUDA library by Debian's CUDA"
  sed -i 's/ main$/ main contrib non-free/' "$folder/etc/apt/sources.list"
  inside ".ci/setup.sh
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends nvidia-cuda-toolkit >/dev/null
    cmake --preset gpu -B build/cuda -DZERORUN_UNITY=ON -DZERORUN_TESTS=OFF -DCMAKE_CUDA_ARCHITECTURES=90 >/dev/null
    cmake --build build/cuda --target zerorun"
fi
