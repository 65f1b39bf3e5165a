#!/usr/bin/env bash
# Shards on the real engines: a Slurm of three nodes on this machine, Open MPI's launcher, GNU parallel
# and an Open Job Description. Daemons of nodes and workers are killed meanwhile; the results are
# compared with an unsharded run byte by byte. Needs root, because Slurm's daemons do.
#
# Everything runs in namespaces of its own (processes, mounts, network), which the kernel ends with all
# that is in them when this script ends, even by SIGKILL. Where namespaces are not allowed, or with
# ZERORUN_CLUSTER_PLAIN=1, a process watches this script and tidies up behind it.
# usage: tests/cluster/run.sh [ZERORUN [KILLS]]   (default build/release/bin/zerorun, 8 kills)
# SPDX-License-Identifier: MIT
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
ZERORUN=$(realpath "${1:-$here/../../build/release/bin/zerorun}")
export ZERORUN
[ "$(id -u)" = 0 ] || { echo "run it as root: Slurm's daemons need that"; exit 2; }
[ -x "$ZERORUN" ] || { echo "'$ZERORUN' is no program; build it first"; exit 2; }

packages=(slurm-wlm munge openmpi-bin parallel iproute2 psmisc)
if ! dpkg -s "${packages[@]}" >/dev/null 2>&1; then
  apt-get update -q >/dev/null
  DEBIAN_FRONTEND=noninteractive apt-get install -y -q "${packages[@]}" >/dev/null
fi

dir=$(mktemp -d "${TMPDIR:-/tmp}/zerorun-cluster-XXXXXX")
export ZERORUN_CLUSTER_DIR=$dir ZERORUN_CLUSTER_CONFINED=no
confine=(setpriv --pdeathsig KILL)  # with this script end the scenes, or unshare, and with that all
own=(unshare --pid --fork --kill-child --mount --mount-proc --net)
if [ "${ZERORUN_CLUSTER_PLAIN:-0}" != 1 ] && "${own[@]}" true 2>/dev/null; then
  ZERORUN_CLUSTER_CONFINED=yes
  confine+=("${own[@]}")
fi

"${confine[@]}" bash "$here/scenes.sh" "${2:-8}" &
inside=$!
tidy() {
  local code=$?
  # unshare hands no signal on. Where there is none, the scenes tidy up themselves.
  if [ $ZERORUN_CLUSTER_CONFINED = yes ]; then kill -KILL $inside; else kill -TERM $inside; fi 2>/dev/null || true
  wait $inside 2>/dev/null || true
  if [ $code = 0 ]; then rm -rf "$dir"; else echo "see $dir"; fi
}
trap 'exit 143' HUP INT TERM
trap tidy EXIT
wait $inside
