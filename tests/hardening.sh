#!/usr/bin/env bash
# Reads from binaries that they are hardened: position-independent, relocations read-only once they are
# bound, all bound at the start, no executable stack, the stacks of what reads bytes from outside protected,
# and calls of the C library checked (_FORTIFY_SOURCE).
# usage: tests/hardening.sh BINARY... [--parsers ARCHIVE[:NAME...]...] [--program OBJECT...]
# ARCHIVE is a static library whose objects parse, or those of its objects alone that have one of the NAMEs.
# OBJECTs are those of the program; what does not end in .cpp.o or .cxx.o (of several sources) is not looked at.
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

# An object that prints has the checked function, beside the plain one where libstdc++ takes its address. Three of
# four objects protect a stack; the others keep nothing on it whose address is taken.
check_program() {
  local symbols name guarded
  symbols=$(nm -uA "$@")
  for name in $(comm -23 <(objects_with 'v?(f|s|sn)?printf') <(objects_with '__v?(f|s|sn)?printf_chk')); do
    complain "$name" "its calls of the C library are not checked (-D_FORTIFY_SOURCE=2)"
  done
  guarded=$(objects_with __stack_chk_fail | wc -l)
  ((guarded * 4 > $# * 3)) || complain "the program" "the stacks of $guarded of $# objects are protected"
}
objects_with() { sed -nE "s/^(.*):[^:]* U $1\$/\1/p" <<<"$symbols" | sort -u; }

check=check_binary objects=()
for argument; do
  case $argument in
    --parsers) check=check_parsers ;;
    --program) check=object ;;
    *) if [ "$check" != object ]; then $check "$argument"; elif [[ $argument == *.cpp.o || $argument == *.cxx.o ]]; then objects+=("$argument"); fi ;;
  esac
done
if [ ${#objects[@]} -gt 0 ]; then check_program "${objects[@]}"; elif [ "$check" = object ]; then complain --program "no object"; fi
exit "$failed"
