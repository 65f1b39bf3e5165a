#!/usr/bin/env bash
# Makes the source distribution of the Python package, unpacks it, makes it again from there, and
# configures its build. Prints nothing; the folder is FOLDER/zerorun-VERSION.
# usage: tests/python/sdist.sh FOLDER
#   PYTHON   the interpreter of an environment into which it may install `build` (python3)
# SPDX-License-Identifier: MIT
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
python=${PYTHON:-python3}
rm -rf "$1"
mkdir -p "$1/again"
folder=$(cd "$1" && pwd)
export PIP_DISABLE_PIP_VERSION_CHECK=1 PYTHONDONTWRITEBYTECODE=1
"$python" -m pip install -q build nanobind
"$python" -m build --sdist -o "$folder" apps/python >"$folder/build.log"
tar xzf "$folder"/zerorun-*.tar.gz -C "$folder"
tree=$(echo "$folder"/zerorun-*/)
"$python" -m build --sdist -o "$folder/again" "$tree" >>"$folder/build.log"
if ! diff <(tar tzf "$folder"/zerorun-*.tar.gz | sort) <(tar tzf "$folder"/again/zerorun-*.tar.gz | sort); then
  echo "the source distribution of the source distribution has other files" >&2
  exit 1
fi
# CMake finds here that a source file is missing.
cmake -S "$tree/apps/python" -B "$folder/configured" -DPython_EXECUTABLE="$("$python" -c 'import sys
print(sys.executable)')" -DZERORUN_CUDA=OFF >"$folder/configure.log" 2>&1 || {
  cat "$folder/configure.log" >&2
  exit 1
}
