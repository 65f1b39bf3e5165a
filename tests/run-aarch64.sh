#!/usr/bin/env bash
# The library on AArch64: builds it with Debian's cross compiler and runs its unit, API, entropy, oracle, golden,
# hostile and fuzz tests under qemu. Installs the compiler and qemu; the libraries that tests link come
# from Debian's arm64 packages into a folder below build/, so the system's own packages stay as they are.
# usage: tests/run-aarch64.sh [CTEST OPTION...]     (for example -R FastDecode)
# SPDX-License-Identifier: MIT
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
.ci/setup.sh
.ci/setup.sh .ci/packages-aarch64.txt

build=$PWD/build/aarch64 sysroot=$PWD/build/aarch64-sysroot
packages=(libgtest-dev libgmock-dev googletest libhwy-dev libjpeg62-turbo libjpeg62-turbo-dev libjpeg-dev libssl3
  libssl-dev)
# apt with package lists of its own: the system needs no foreign architecture.
apt_arm64() {
  apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State::Lists="$sysroot/apt/lists" \
    -o Dir::Cache="$sysroot/apt" -o Dir::State::status="$sysroot/apt/status" -o APT::Sandbox::User="" "$@"
}
if [ ! -e "$sysroot/complete" ]; then
  mkdir -p "$sysroot/apt/lists/partial" "$sysroot/apt/archives/partial"
  touch "$sysroot/apt/status"
  apt_arm64 update
  (cd "$sysroot/apt" && apt_arm64 download "${packages[@]}")
  for package in "$sysroot"/apt/*.deb; do dpkg-deb -x "$package" "$sysroot"; done
  # A native compiler looks for headers there too.
  cp -a "$sysroot"/usr/include/aarch64-linux-gnu/. "$sysroot/usr/include/"
  touch "$sysroot/complete"
fi

export CMAKE_CXX_COMPILER_LAUNCHER=ccache
# A Cortex-A72 has NEON and no SVE.
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
  -DCMAKE_C_COMPILER=aarch64-linux-gnu-gcc -DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++ \
  -DCMAKE_LIBRARY_ARCHITECTURE=aarch64-linux-gnu -DCMAKE_FIND_ROOT_PATH="$sysroot" \
  -DCMAKE_FIND_ROOT_PATH_MODE_INCLUDE=ONLY -DCMAKE_FIND_ROOT_PATH_MODE_LIBRARY=ONLY \
  -DCMAKE_FIND_ROOT_PATH_MODE_PACKAGE=ONLY -DCMAKE_FIND_ROOT_PATH_MODE_PROGRAM=NEVER \
  -DCMAKE_CROSSCOMPILING_EMULATOR="qemu-aarch64-static;-cpu;cortex-a72;-L;/usr/aarch64-linux-gnu" \
  -DZERORUN_CUDA=OFF -DZERORUN_IO=OFF -DZERORUN_PROGRAM=OFF -DZERORUN_SAMPLES=OFF -DZERORUN_INSTALL=OFF \
  -DZERORUN_TESTS=ON -DZERORUN_UNITY=ON >/dev/null
cmake --build "$build" --target zerorun_tests zerorun_fuzz_targets
# An emulated processor takes some twenty times as long.
export ZERORUN_MUTATIONS=5000
ctest --test-dir "$build" --no-tests=error --output-on-failure -j "$(nproc)" \
  -L 'unit|api|entropy|oracle|golden|hostile|fuzz' "$@"
