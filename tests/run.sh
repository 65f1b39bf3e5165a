#!/usr/bin/env bash
# What a change has to pass, but for the limits of kernels (check_kernels.sh): installs missing packages,
# checks the sources, builds and runs the tests, and does it again without OpenCV and FFmpeg and under the
# sanitizers. Ends with a table of the seconds that each step took.
# usage: tests/run.sh [quick]     (quick: sources, release build and its tests only)
# SPDX-License-Identifier: MIT
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
mode=${1:-all}
case $mode in all | quick) ;; *) echo "usage: tests/run.sh [quick]" >&2; exit 2 ;; esac

names=() begins=() jobs=()
step() {
  printf '\n== %s (%d s)\n' "$1" "$SECONDS"
  names+=("$1")
  begins+=("$SECONDS")
}
table() {
  local code=$? i
  for i in "${!jobs[@]}"; do kill -- "-$i" 2>/dev/null || true; done
  [ "$code" -eq 0 ] || names[-1]+=" (FAILED)"
  begins+=("$SECONDS")
  printf '\n%8s  %s\n' seconds step
  for i in "${!names[@]}"; do
    printf '%8d  %s\n' $((begins[i + 1] - begins[i])) "${names[i]}"
  done
  printf '%8d  %s\n' "$SECONDS" "all"
}

# aside LOG COMMAND...: runs it beside what follows, in a process group of its own.
aside() {
  local log=$1
  shift
  setsid "$@" >"$log" 2>&1 &
  jobs[$!]=$log
}
# finish JOB: waits for it, shows what it wrote and gives its exit status.
finish() {
  local code=0
  wait "$1" || code=$?
  cat "${jobs[$1]}"
  unset "jobs[$1]"
  return $code
}

step "packages"
trap table EXIT
.ci/setup.sh
mkdir -p build

step "sources"
tests/check_sources.sh
aside build/sources_test.log tests/check_sources_test.sh
sources_test=$!

# CMake gives every compiler this launcher, in the builds of the install test too. ccache then finds what
# the run before has compiled, and what another build of this run has, unity sources too: if their paths below
# the build folder are equal, and what the preprocessor makes of them.
export CMAKE_CXX_COMPILER_LAUNCHER=ccache CMAKE_CUDA_COMPILER_LAUNCHER=ccache
# The wheel and the install test build the library again: here, as deep as the presets do, they find its objects.
export ZERORUN_BUILDS=$PWD/build
# Another clone of the same sources finds the same objects, wherever it lies.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=true
# GCC tidies up its memory from 128 MB on, which takes a tenth of the time of large sources; from 1 GB on, the largest takes
# 1.7 GB and not 1.1.
own_flags=${CXXFLAGS:-}
if "${CXX:-c++}" --param ggc-min-heapsize=1000000 -Werror -E -x c++ /dev/null >/dev/null 2>&1; then
  export CXXFLAGS="$own_flags --param ggc-min-heapsize=1000000"
fi
# Up to forty sources are compiled as one: eighty of the program take 51 s of a core together, 87 by tens
# and four times that one by one. A source that includes too little, or that the compiler warns of when it
# sees no other, is content then. So the library without CUDA is built one by one as well, and
# `ZERORUN_UNITY=OFF tests/run.sh` builds all so.
# `ZERORUN_WERROR=ON tests/run.sh` treats warnings as errors, as .ci/run does.
configure() {  # PRESET [OPTION...]
  cmake -DZERORUN_UNITY="${ZERORUN_UNITY:-ON}" -DZERORUN_WERROR="${ZERORUN_WERROR:-OFF}" --preset "$@" >/dev/null
}

# Tests of the program wait for displays, disks and each other: cli.window keeps a core busy for 28 of its
# 61 s. So one more runs than there are cores.
beside=$(($(nproc) + 1))

step "release: build"
# One GPU architecture is enough to see that the kernels compile. Whether they fit all of them and spill no register
# takes 475 s of a core: tests/check_kernels.sh, which CI runs after this script.
configure release -DCMAKE_CUDA_ARCHITECTURES=90
cmake --build --preset release
finish "$sources_test"

# These tests wait for long: they take 419 s of two cores that nothing else uses. So they run beside what
# follows, and their output is shown at the end.
if [ "$mode" = all ]; then
  aside build/release/tests.log ctest --no-tests=error --preset release -j "$beside"
  release_tests=$!
fi

if [ "$mode" = all ]; then
  kernels_test=
  if command -v nvcc >/dev/null; then
    aside build/kernels_test.log tests/check_kernels_test.sh
    kernels_test=$!
  fi
  step "the library, source by source: build"
  ZERORUN_UNITY=OFF configure core -B build/alone -DZERORUN_CUDA=OFF
  cmake --build build/alone --target zerorun

  step "without OpenCV and FFmpeg: build the program"
  configure core -DZERORUN_CUDA=OFF
  cmake --build --preset core --target zerorun_program pretending_program pan_zoom encode_minimal encode_minimal_c \
    decode_minimal live_server \
    fault_disk intruder
  [ -z "$kernels_test" ] || finish "$kernels_test"
  step "without OpenCV and FFmpeg: tests of the program"
  ctest --no-tests=error --preset core -L cli -j "$beside"

  # The presets with sanitizers name Clang. Five of the largest sources take 89 s of a core with it and 140 with GCC, the
  # tests under ThreadSanitizer 93 and 243; and what one compiler does not complain about, the other may.
  export CXXFLAGS=$own_flags  # Clang has no such option
  step "AddressSanitizer and UBSan: build"
  configure asan
  cmake --build --preset asan --target zerorun_tests zerorun_fuzz_targets zerorun_player
  step "AddressSanitizer and UBSan: unit, oracle, hostile and fuzz tests, the player"
  ctest --no-tests=error --preset asan -L 'unit|api|oracle|entropy|golden|hostile|fuzz|io|gstreamer|player' \
    -j "$beside"

  # One thread of Python, beside a build: 72 s, of which the other core would do nothing for 60.
  ZERORUN_PROGRAM=$PWD/build/release/bin/zerorun aside build/asan/python.log tests/python/asan.sh build/asan/python
  python_tests=$!

  step "ThreadSanitizer: build"
  configure tsan
  cmake --build --preset tsan
  step "AddressSanitizer and UBSan: Python package"
  finish "$python_tests" || [ $? -eq 77 ]
  step "ThreadSanitizer: tests, the player"
  ctest --no-tests=error --preset tsan -j "$beside"
fi

step "release: tests"
if [ "$mode" = all ]; then
  finish "$release_tests"
else
  ctest --no-tests=error --preset release -j "$beside"
fi
