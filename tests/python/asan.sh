#!/usr/bin/env bash
# The tests of the Python package with the binding and the library under AddressSanitizer and UBSan.
# The binding is built in the tree of the preset `asan`. Exit 77: there are no venv or packages of Python.
# usage: tests/python/asan.sh FOLDER [ARGUMENT OF PYTEST...]
#   FOLDER   for the environment and the package
#   ZERORUN_PROGRAM, ZERORUN_WALK_SECONDS   as for the tests
# SPDX-License-Identifier: MIT
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
mkdir -p "$1"
build=$(cd "$1" && pwd)
shift
export PIP_DISABLE_PIP_VERSION_CHECK=1 PYTHONDONTWRITEBYTECODE=1
unset PYTHONPATH PYTHONHOME
skip() {
  echo "skipped: $1"
  exit 77
}
"${PYTHON:-python3}" -m venv "$build/venv" || skip "python3-venv is not installed"
bin=$build/venv/bin
"$bin/pip" install -q nanobind numpy pytest >"$build/pip.log" 2>&1 ||
  skip "pip cannot get packages: $(tail -1 "$build/pip.log")"
# The binding is built with the libraries of the preset `asan`. Where run.sh has compiled these, all of this takes 101 s
# of a core, and took 228 with libraries of its own. The binding takes 15 s as one source, and three of ten took 47.
{
  cmake -DZERORUN_UNITY="${ZERORUN_UNITY:-ON}" --preset asan -DZERORUN_PYTHON=ON -DPython_EXECUTABLE="$bin/python" &&
    cmake --build --preset asan --target _zerorun
} >"$build/build.log" || {
  tail -40 "$build/build.log"
  exit 1
}
mkdir -p "$build/site"
cp -r apps/python/zerorun "$build/site/"
cp build/asan/apps/python/_zerorun*.so "$build/site/zerorun/"
cmake --preset asan -DZERORUN_PYTHON=OFF >/dev/null  # so that the tree does not need the environment

# The interpreter has no AddressSanitizer, so the run-time library comes first. Objects that live to
# the end of the interpreter are its own; memory_test looks for leaks. The run-time library counts a
# refused allocation as an error; Python makes a MemoryError of it. The tests of fork() are left out: where
# another thread holds a lock of its allocator meanwhile, the child waits for that for ever (GCC 12).
preload=$(clang++ -print-file-name="libclang_rt.asan-$(uname -m).so"):$(clang++ -print-file-name=libstdc++.so)
cd tests/python
env LD_PRELOAD="$preload" PYTHONMALLOC=malloc PYTHONPATH="$build/site" \
  ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:detect_stack_use_after_return=1 \
  UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 \
  "$bin/python" -X faulthandler -m pytest -q -s --ignore=memory_test.py --ignore=typing_test.py \
  --deselect coders_test.py::test_fork --deselect coders_test.py::test_fork_while_threads_code "$@"
