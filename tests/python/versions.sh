#!/usr/bin/env bash
# Builds wheels from the source distribution with several interpreters, and tests each. From 3.12 on
# one wheel (abi3) serves all versions: the first of them builds it, and the later ones take it.
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
abi3=
for python in "$@"; do
  read -r name takes_abi3 < <("$python" -c 'import platform, sys
print(platform.python_version(), sys.version_info >= (3, 12))') || exit 1
  echo "== CPython $name"
  built=
  [ "$takes_abi3" = True ] && built=$abi3
  PYTHON=$python ZERORUN_BUILT=$built ZERORUN_SDIST=$(echo "$build"/sdist/zerorun-*/) \
    "$here/run.sh" "$build/$name" || failed+=" $name"
  for wheel in "$build/$name"/wheel/*-abi3-*.whl; do
    if [ -e "$wheel" ]; then abi3=$wheel; fi
  done
  if [ "$takes_abi3" = True ] && [ -z "$abi3" ]; then
    echo "the wheel of CPython $name is not abi3" >&2
    failed+=" $name"
  fi
done
[ -z "$failed" ] || { echo "failed with$failed" >&2; exit 1; }
