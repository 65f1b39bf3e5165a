#!/usr/bin/env bash
# Ends run.sh amid its work, by SIGKILL and SIGTERM, with namespaces and without, and looks whether
# anything of it is left: a process, a network, a bridge. Needs root.
# usage: tests/cluster/run_killed_test.sh [ZERORUN]
# SPDX-License-Identifier: MIT
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mine=$(mktemp -d /tmp/zrk-XXXXXX)
chmod 755 "$mine"  # munge goes through it
run=
trap '[ -z "$run" ] || kill -KILL $run 2>/dev/null || true; rm -rf "$mine"' EXIT

# Everything that run.sh starts has its folder, which is in $mine, in the environment.
processes() {
  local process
  for process in /proc/[0-9]*; do
    [ "${process#/proc/}" != $$ ] && [ "${process#/proc/}" != "$BASHPID" ] || continue
    if grep -qaF "$mine" "$process/environ" "$process/cmdline" 2>/dev/null; then
      echo "${process#/proc/} $(tr '\0' ' ' 2>/dev/null <"$process/cmdline" || true)"
    fi
  done
}
networks() { { ip netns list; ip -o link; } 2>/dev/null | grep -oE '\b(zr|v[123]-)[0-9]+[^ :@]*' | sort || true; }
at_work() { processes | grep -cE "$1" || true; }

try() {  # PLAIN SIGNAL PATTERN COUNT: strikes when so many processes match
  local before after left came=no
  before=$(networks)
  ZERORUN_CLUSTER_PLAIN=$1 TMPDIR=$mine "$here/run.sh" "${program[@]}" >"$mine/log" 2>&1 &
  run=$!
  for _ in $(seq 1200); do
    [ "$(at_work "$3")" -lt "$4" ] || { came=yes; break; }
    kill -0 $run 2>/dev/null || { cat "$mine/log"; echo "FAILED: run.sh ended before '$3' was there"; exit 1; }
    sleep 0.1
  done
  [ $came = yes ] || { echo "FAILED: '$3' never came"; exit 1; }
  kill "-$2" $run
  { wait $run || true; } 2>/dev/null
  run=
  for _ in $(seq 300); do
    left=$(processes) after=$(networks)
    [ -n "$left" ] || [ "$after" != "$before" ] || break
    sleep 0.1
  done
  [ -z "$left" ] || { printf 'FAILED: left by SIG%s, plain=%s:\n%s\n' "$2" "$1" "$left"; exit 1; }
  [ "$after" = "$before" ] || { printf 'FAILED: networks left by SIG%s, plain=%s:\n%s\n' "$2" "$1" "$after"; exit 1; }
  echo "ok: SIG$2 with '$3' at work, plain=$1: nothing is left"
}

[ "$(id -u)" = 0 ] || { echo "run it as root"; exit 2; }
program=("$@")
for plain in 0 1; do
  try $plain KILL 'zerorun encode .*--shard' 1
  try $plain KILL '^[0-9]+ slurmd ' 3
  try $plain TERM '^[0-9]+ slurmd ' 3
done
