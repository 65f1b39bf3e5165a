#!/usr/bin/env bash
# Compares the symbols that a shared library exports with the lists in the repository. One that is
# gone breaks programs that were linked before: then raise ZERORUN_ABI. A new one goes into a list.
# usage: symbols.sh LIBRARY LIST...
# SPDX-License-Identifier: MIT
set -euo pipefail
library=$1
shift
# Private constructors take a pointer to Impl, which nobody outside has; RTTI is weak and comes with
# the classes. Names are compared unmangled, so that a list can be read.
exported=$(nm -DC --defined-only "$library" | cut -d' ' -f3- | grep -v 'Impl' | LC_ALL=C sort -u)
listed=$(grep -hvE '^(#|$)' "$@" | LC_ALL=C sort -u)
missing=$(comm -13 <(echo "$exported") <(echo "$listed"))
added=$(comm -23 <(echo "$exported") <(echo "$listed"))
[ -z "$missing" ] || printf 'symbols that have disappeared:\n%s\n' "$missing" >&2
[ -z "$added" ] || printf 'symbols that are in no list:\n%s\n' "$added" >&2
[ -z "$missing$added" ]
