#!/usr/bin/env bash
# Tries the files of a release: each wheel with the interpreters that it is for, and the Debian packages and a wheel in
# a new minimal Debian, in which there is no compiler and nothing else of the build.
# usage: .ci/try_release.sh FOLDER [INTERPRETER...]
# Needs root, debootstrap and the network. The Debian is the one of this machine; its folder is removed at the end.
# SPDX-License-Identifier: MIT
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$(cd "$1" && pwd)
shift
export PIP_DISABLE_PIP_VERSION_CHECK=1 DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
unset PYTHONPATH PYTHONHOME PIP_FIND_LINKS

fail() {
  echo "try_release: $1" >&2
  exit 1
}
[ "$(id -u)" -eq 0 ] || fail "a new Debian needs root"

(cd "$folder" && sha256sum --quiet -c SHA256SUMS)

work=$(mktemp -d)
debian=$work/debian
cleanup() {
  umount "$debian/proc" 2>/dev/null || true
  rm -rf --one-file-system "$work"
}
trap cleanup EXIT

# pip takes the wheel that it finds best; those for 3.12 and later are tried with each of them too.
try_wheel() {  # INTERPRETER WHAT [ARGUMENT OF PIP...]
  local python=$1 what=$2
  shift 2
  rm -rf "$work/venv"
  "$python" -m venv "$work/venv"
  "$work/venv/bin/pip" install -q --only-binary :all: numpy
  "$work/venv/bin/pip" install -q --no-deps --no-index "$@"
  local said  # the interpreter of the environment is all that PATH has
  said=$(env -i PATH="$work/venv/bin" "$work/venv/bin/python" -I "$here/try_wheel.py")
  [[ $said == *" with CUDA "* ]] || fail "this wheel has no CUDA code: $said"
  echo "$what: $said"
}
for python in "$@"; do
  name=$("$python" -c 'import platform; print("CPython", platform.python_version())')
  try_wheel "$python" "$name" --find-links="$folder" zerorun
  if "$python" -c 'import sys; sys.exit(sys.version_info < (3, 12))'; then
    try_wheel "$python" "$name, abi3" "$folder"/zerorun-*-abi3-*.whl
  fi
done

# A new Debian.
# shellcheck source=/dev/null
. /etc/os-release
debootstrap --variant=minbase "$VERSION_CODENAME" "$debian" >"$work/debootstrap.log" ||
  { tail -20 "$work/debootstrap.log" >&2; fail "debootstrap failed"; }
mount -t proc proc "$debian/proc" 2>/dev/null || true  # some containers forbid it; then it is tried without
cp /etc/resolv.conf "$debian/etc/resolv.conf"
mkdir "$debian/release"
cp "$folder"/*.deb "$folder"/*.whl "$here/try_program.sh" "$here/try_wheel.py" "$debian/release/"
inside() { chroot "$debian" env -u LD_LIBRARY_PATH PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root "$@"; }
install() {
  inside apt-get install -y --no-install-recommends "$@" >"$work/apt.log" 2>&1 ||
    { tail -20 "$work/apt.log" >&2; fail "apt cannot install $*"; }
}
inside apt-get update -qq

mapfile -t packages < <(cd "$folder" && ls -- *.deb)
install "${packages[@]/#//release/}"
echo "apt installed ${packages[*]}"
for tool in cc c++ gcc g++ clang cmake ninja make nvcc; do
  if inside sh -c "command -v $tool" >/dev/null; then fail "$tool is in the Debian that should have no tools"; fi
done
inside test -s /usr/share/man/man1/zerorun-encode.1.gz || fail "the package has no manual pages"
said=$(inside sh /release/try_program.sh /usr/bin/zerorun /tmp)
for part in ffmpeg opencv cuda sandbox; do
  [[ $said == *" +$part"* ]] || fail "the program was built without $part: $said"
done
echo "Debian's program: $said"
install gstreamer1.0-tools
inside gst-inspect-1.0 zerorunenc >"$work/gst.log" || fail "GStreamer does not find zerorunenc"

install python3-venv ca-certificates
cp -L /etc/ssl/certs/ca-certificates.crt "$debian/etc/ssl/certs/"  # this machine may trust more, such as a proxy
inside python3 -m venv /venv
inside /venv/bin/pip install -q --only-binary :all: numpy
inside /venv/bin/pip install -q --no-deps --no-index --find-links=/release zerorun
echo "Debian's CPython: $(inside /venv/bin/python -I /release/try_wheel.py)"
