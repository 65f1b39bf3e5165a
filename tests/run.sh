#!/usr/bin/env bash
# Everything that a change has to pass: installs what is missing, checks the sources, builds and runs
# the tests, and does it again without OpenCV and FFmpeg and under the sanitizers.
# usage: tests/run.sh [quick]     (quick: sources, release build and its tests only)
# SPDX-License-Identifier: MIT
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
mode=${1:-all}
case $mode in all | quick) ;; *) echo "usage: tests/run.sh [quick]" >&2; exit 2 ;; esac

step() { printf '\n== %s (%d s)\n' "$1" "$SECONDS"; }

step "packages"
.ci/setup.sh

step "sources"
tests/check_sources.sh

step "release build"
# One GPU architecture is enough to see that the kernels compile.
cmake --preset release -DCMAKE_CUDA_ARCHITECTURES=90 >/dev/null
cmake --build --preset release

if [ "$mode" = all ]; then
  step "build without OpenCV and FFmpeg, and the program's tests with it"
  cmake --preset core -DZERORUN_CUDA=OFF >/dev/null
  cmake --build --preset core --target zerorun_program pan_zoom encode_minimal decode_minimal live_server
  ctest --no-tests=error --preset core -L cli -j "$(nproc)"

  step "unit, oracle and hostile tests under AddressSanitizer and UBSan"
  cmake --preset asan >/dev/null
  cmake --build --preset asan --target zerorun_tests
  ctest --no-tests=error --preset asan -L 'unit|api|oracle|entropy|golden|hostile|io|gstreamer' -j "$(nproc)"

  step "threads under ThreadSanitizer"
  cmake --preset tsan >/dev/null
  cmake --build --preset tsan
  ctest --no-tests=error --preset tsan -j "$(nproc)"
fi

step "release tests"
ctest --no-tests=error --preset release -j "$(nproc)"
