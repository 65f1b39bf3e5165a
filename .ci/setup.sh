#!/usr/bin/env bash
# Installs those packages of a list (.ci/packages.txt) that are missing. On a system where zerorun is not tried it
# says so, names the packages that it cannot install, and leaves the rest to the build.
# usage: .ci/setup.sh [LIST]
# Needs root or sudo where a package is missing.
set -euo pipefail
export LC_ALL=C
list=${1:-$(dirname "${BASH_SOURCE[0]}")/packages.txt}

# The name of this system if tests/systems.sh does not try it, for a sentence alone.
untried() (
  [ ! -r /etc/os-release ] || . /etc/os-release
  case "${ID:-} ${VERSION_ID:-}" in "debian 12" | "debian 13") return 0 ;; esac
  echo "${PRETTY_NAME:-$(uname -s)}"
)
# note PACKAGE...: those that cannot be installed here. One sentence, or nothing.
note() {
  local system names="$*"
  system=$(untried)
  [ -n "$system$names" ] || return 0
  [ -z "$names" ] || names="missing here, by their names in Debian: ${names// /, }; "
  echo "zerorun: ${system:+$system is not among the systems in README.md; }${names}building all the same" >&2
}

# Without dpkg the list's second word tells what is missing.
if ! command -v dpkg-query >/dev/null; then
  missing=()
  while read -r package probe; do
    case $package in '' | '#'*) continue ;; esac
    [ -z "$probe" ] || command -v "$probe" >/dev/null || pkg-config --exists "$probe" 2>/dev/null ||
      missing+=("$package")
  done <"$list"
  note "${missing[@]}"
  exit 0
fi

mapfile -t wanted < <(sed -E '/^(#|$)/d; s/ .*//' "$list")
missing=()
for package in "${wanted[@]}"; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
  note
  exit 0
fi

sudo=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || {
    echo "zerorun: these packages are missing and only root can install them: ${missing[*]}" >&2
    exit 1
  }
  sudo=(sudo)
fi
echo "zerorun: installing ${#missing[@]} packages" >&2
export DEBIAN_FRONTEND=noninteractive
"${sudo[@]}" apt-get update -qq
found=$(apt-cache policy "${missing[@]}" | sed -nE '/^[^ ]/{s/:$//;h}; /^  Candidate: [^(]/{x;p}')
mapfile -t absent < <(printf '%s\n' "${missing[@]}" | grep -vxF "$found")
mapfile -t found <<<"$found"
note "${absent[@]}"
[ -z "${found[*]}" ] || "${sudo[@]}" apt-get install -y -qq --no-install-recommends "${found[@]}" >/dev/null
