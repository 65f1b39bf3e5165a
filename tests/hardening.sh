#!/usr/bin/env bash
# Reads from binaries that they are hardened: position-independent, relocations read-only once they are
# bound, all bound at the start, no executable stack, and the parsers' stacks protected.
# usage: tests/hardening.sh BINARY...
# SPDX-License-Identifier: MIT
set -euo pipefail
failed=0
for binary; do
  headers=$(readelf -hlWd "$binary")
  imports=$(readelf -W --dyn-syms "$binary")
  wants() {
    grep -qE "$2" <<<"$3" || { echo "$binary: $1" >&2; failed=1; }
  }
  wants "it is not position-independent" 'Type: +DYN' "$headers"
  wants "its relocations stay writable (-z relro)" 'GNU_RELRO' "$headers"
  wants "its functions are bound when they are called (-z now)" 'BIND_NOW|Flags:.* NOW' "$headers"
  wants "its stack is executable" 'GNU_STACK.* RW ' "$headers"
  wants "no stack is protected (-fstack-protector-strong)" '__stack_chk_fail' "$imports"
done
exit "$failed"
