#!/usr/bin/env bash
# Installs those packages of a list (.ci/packages.txt) that are missing.
# usage: .ci/setup.sh [LIST]
# Needs Debian or Ubuntu, and root or sudo where a package is missing.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

mapfile -t wanted < <(grep -Ev '^(#|$)' "${1:-$root/.ci/packages.txt}")
missing=()
for package in "${wanted[@]}"; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

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
"${sudo[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
