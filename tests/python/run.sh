#!/usr/bin/env bash
# Builds the wheel of the Python package as pip does, installs it into an environment with nothing
# else in it, and runs the tests there. Exit 77: something that this needs is not there.
# usage: tests/python/run.sh BUILD_FOLDER [ARGUMENT OF PYTEST...]
#   PYTHON            the interpreter (python3)
#   ZERORUN_PROGRAM   the program to compare with; without it these tests skip
#   ZERORUN_WHEEL     pip's options for the build, for example --config-settings=cmake.define.ZERORUN_CUDA=OFF
#   ZERORUN_SDIST     an unpacked source distribution, from which the wheel is built instead of the tree
#   ZERORUN_BUILDS    where the build's folder lies, instead of BUILD_FOLDER: as deep as that of another build
#                     whose objects ccache is to find
#   ZERORUN_BUILT     a wheel that is there already; none is built
#   ZERORUN_FRAMEWORKS  more packages, for frameworks_test.py: "jax[cpu] tensorflow-cpu torch"
# SPDX-License-Identifier: MIT
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
mkdir -p "$1"
build=$(cd "$1" && pwd)
shift
python=${PYTHON:-python3}
export PIP_DISABLE_PIP_VERSION_CHECK=1 PYTHONDONTWRITEBYTECODE=1
unset PYTHONPATH PYTHONHOME

skip() {
  echo "skipped: $1"
  exit 77
}
"$python" -c 'import venv, ensurepip' 2>/dev/null || skip "python3-venv is not installed"
"$python" -c 'import os, sys, sysconfig
sys.exit(not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))' ||
  skip "python3-dev is not installed"

rm -rf "$build/venv" "$build/wheel"
"$python" -m venv "$build/venv"
bin=$build/venv/bin
"$bin/pip" download -q --no-deps -d "$build/reachable" scikit-build-core nanobind numpy pytest \
  >"$build/download.log" 2>&1 || skip "pip cannot get packages: $(tail -1 "$build/download.log")"

if [ -n "${ZERORUN_BUILT:-}" ]; then
  mkdir "$build/wheel"
  cp "$ZERORUN_BUILT" "$build/wheel/"
  echo "takes $(basename "$build"/wheel/*.whl)"
else
  read -ra options <<<"${ZERORUN_WHEEL:-}"
  "$bin/pip" wheel -q --no-deps -w "$build/wheel" --config-settings="build-dir=${ZERORUN_BUILDS:-$build}/wheel_build" \
    "${options[@]}" "${ZERORUN_SDIST:-./apps/python}"
  echo "built $(basename "$build"/wheel/*.whl)"
fi
"$bin/pip" install -q "$build"/wheel/*.whl
"$bin/python" -I .ci/try_wheel.py
read -ra frameworks <<<"${ZERORUN_FRAMEWORKS:-}"
"$bin/pip" install -q pytest mypy typing_extensions "${frameworks[@]}"

# The source distribution has all that the build needs, and makes the same one again.
if [ -z "${ZERORUN_SDIST:-}${ZERORUN_BUILT:-}" ]; then
  PYTHON=$bin/python tests/python/sdist.sh "$build/sdist"
fi

# A wheel without CUDA leaves the code for GPUs out; it compiles all the same.
for cuda in "${CUDA_PATH:-/usr/local/cuda}/include"; do
  [ -e "$cuda/cuda_runtime_api.h" ] || continue
  "$bin/pip" install -q nanobind
  include=$("$bin/python" -c 'import nanobind, sysconfig
print("-isystem", nanobind.include_dir(), "-isystem", sysconfig.get_path("include"))')
  # shellcheck disable=SC2086
  ${CXX:-g++} -std=c++20 -fsyntax-only -fvisibility=hidden -Wall -Wextra -Wconversion -Wshadow \
    -Werror -DZERORUN_HAVE_CUDA -I. -Icodec/include -Icuda/include -isystem "$cuda" $include apps/python/binding/device.cpp
done
cd tests/python
exec "$bin/python" -X faulthandler -m pytest -q "$@"
