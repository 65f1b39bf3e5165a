#!/usr/bin/env bash
# Reads from binaries that they are hardened: position-independent, relocations read-only once they are
# bound, all bound at the start, no executable stack, the stacks of what reads bytes from outside protected,
# and calls of the C library checked (_FORTIFY_SOURCE).
# usage: tests/hardening.sh BINARY... [--parsers ARCHIVE[:NAME...]...]
# ARCHIVE is a static library whose objects parse, or those of its objects alone that have one of the NAMEs.
# SPDX-License-Identifier: MIT
set -euo pipefail
failed=0
complain() { echo "$1: $2" >&2; failed=1; }

check_binary() {
  local headers imports
  headers=$(readelf -hlWd "$1")
  imports=$(readelf -W --dyn-syms "$1")
  wants() { grep -qE "$3" <<<"$4" || complain "$1" "$2"; }
  wants "$1" "it is not position-independent" 'Type: +DYN' "$headers"
  wants "$1" "its relocations stay writable (-z relro)" 'GNU_RELRO' "$headers"
  wants "$1" "its functions are bound when they are called (-z now)" 'BIND_NOW|Flags:.* NOW' "$headers"
  wants "$1" "its stack is executable" 'GNU_STACK.* RW ' "$headers"
  wants "$1" "no stack is protected (-fstack-protector-strong)" '__stack_chk_fail' "$imports"
}

# Every object that keeps an array on a stack has the check; those without one have none.
check_parsers() {
  local archive=${1%%:*} names symbols name objects guarded
  names=${1#"$archive"}
  symbols=$(nm -A "$archive" 2>/dev/null)
  for name in ${names//:/ }; do
    grep -q ":$name.*:.* U __stack_chk_fail" <<<"$symbols" || complain "$archive" "the stacks of $name are not protected"
  done
  [ -z "$names" ] || return 0
  objects=$(ar t "$archive" | wc -l)
  guarded=$(grep -c ' U __stack_chk_fail' <<<"$symbols" || true)
  ((guarded * 2 > objects)) || complain "$archive" "the stacks of $guarded of $objects objects are protected"
  grep -qE ' U __(v?snprintf|mem[a-z]+|str[a-z]+|read|pread|longjmp)_chk$' <<<"$symbols" ||
    complain "$archive" "no call is checked (-D_FORTIFY_SOURCE=2)"
}

check=check_binary
for argument; do
  case $argument in
    --parsers) check=check_parsers ;;
    *) $check "$argument" ;;
  esac
done
exit "$failed"
