#!/usr/bin/env bash
# Builds the wheel from the source distribution with several interpreters, and tests each.
# usage: tests/python/versions.sh BUILD_FOLDER [INTERPRETER...]     (python3.9 to python3.13, as far as there are)
# Variables as for run.sh. Exit 1 if one fails, and names it.
# SPDX-License-Identifier: MIT
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mkdir -p "$1"
build=$(cd "$1" && pwd)
shift
if [ $# = 0 ]; then
  for minor in 9 10 11 12 13; do
    if "python3.$minor" -c 'import venv' 2>/dev/null; then set -- "$@" "python3.$minor"; fi
  done
fi
[ $# -gt 0 ] || { echo "no interpreter from python3.9 to python3.13 was found" >&2; exit 77; }

"$1" -m venv "$build/venv" && PYTHON=$build/venv/bin/python "$here/sdist.sh" "$build/sdist" || exit 1
failed=
for python in "$@"; do
  name=$("$python" -c 'import platform
print(platform.python_version())') || exit 1
  echo "== CPython $name"
  PYTHON=$python ZERORUN_SDIST=$(echo "$build"/sdist/zerorun-*/) "$here/run.sh" "$build/$name" || failed+=" $name"
done
[ -z "$failed" ] || { echo "failed with$failed" >&2; exit 1; }
