#!/usr/bin/env bash
# Shards on the real engines: a Slurm of three nodes on this machine, Open MPI's launcher, GNU parallel
# and an Open Job Description. Daemons of nodes and workers are killed meanwhile; the results are
# compared with an unsharded run byte by byte. Needs root, because Slurm's daemons do.
# usage: tests/cluster/run.sh [ZERORUN]   (default build/release/bin/zerorun)
# SPDX-License-Identifier: MIT
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
ZERORUN=$(realpath "${1:-$root/build/release/bin/zerorun}")
export ZERORUN
samples=$root/samples/cluster
[ "$(id -u)" = 0 ] || { echo "run it as root: Slurm's daemons need that"; exit 2; }

packages=(slurm-wlm munge openmpi-bin parallel)
if ! dpkg -s "${packages[@]}" >/dev/null 2>&1; then
  apt-get update -q >/dev/null
  DEBIAN_FRONTEND=noninteractive apt-get install -y -q "${packages[@]}" >/dev/null
fi

dir=$(mktemp -d /tmp/zerorun-cluster-XXXXXX)
# shellcheck source=tests/cluster/slurm.sh
. "$root/tests/cluster/slurm.sh"
trap 'code=$?; stop_slurm; if [ $code = 0 ]; then rm -rf "$dir"; else echo "see $dir"; fi' EXIT
cd "$dir"

same() {  # NAME: out/NAME and one/NAME
  cmp "one/$1" "out/$1" || { echo "FAILED: $2: $1 differs"; exit 1; }
  [ ! -e "out/$1.shards" ] || { echo "FAILED: $2: the shards are still there"; exit 1; }
  echo "ok: $2: $1 is the file of one run"
}
fresh() { rm -rf out; mkdir out; }

mkdir one in
python3 "$root/tests/cluster/make_input.py" in/long.y4m 640 480 720
video=mjpeg
if "$ZERORUN" --version | grep -q +ffmpeg; then video=mov; fi
"$ZERORUN" encode in/long.y4m -o "one/shot.$video" --quiet --device cpu

echo "== Open MPI"
fresh
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "$samples/encode_mpirun.sh" \
  in/long.y4m "out/shot.$video" -np 4 --oversubscribe >mpi.log 2>&1 || { cat mpi.log; exit 1; }
same "shot.$video" "mpirun"

echo "== GNU parallel"
fresh
"$samples/encode_parallel.sh" in/long.y4m "out/shot.$video" 5 -j 2 >parallel.log 2>&1 ||
  { cat parallel.log; exit 1; }
same "shot.$video" "parallel"

if command -v openjd >/dev/null; then
  echo "== Open Job Description"
  fresh
  openjd run "$samples/encode.openjd.yaml" --step Join --run-dependencies -p "Program=$ZERORUN" \
    -p "Input=$dir/in/long.y4m" -p "Output=$dir/out/shot.$video" >openjd.log 2>&1 ||
    { tail -40 openjd.log; exit 1; }
  same "shot.$video" "openjd"
else
  echo "skipped: Open Job Description (pip install openjd-cli)"
fi

echo "== Slurm"
start_slurm
submit() {  # prints the id of the job that joins
  bash "$samples/encode_array.sbatch" "$dir/in/long.y4m" "$dir/out/shot.$video" "$@" |
    tee submit.log | sed -n 's/^Submitted batch job //p'
}
fresh
join=$(submit 6 --device cpu --threads 1)
wait_for_job "$join"
same "shot.$video" "array and dependent job"

echo "== Slurm, with nodes and workers killed"
fresh
join=$(submit 6 --device cpu --threads 1 --cpu scalar)
kills=0
for round in $(seq 60); do
  sleep 0.3
  if kill_a_worker "$dir/out"; then
    kills=$((kills + 1))
    kill_and_restart_node "n$((round % 3 + 1))"
  fi
  [ $kills -lt 6 ] || break
done
[ $kills -gt 0 ] || { echo "FAILED: no worker was there to be killed"; exit 1; }
resubmit=0
until wait_for_job "$join"; do  # a worker that was killed failed its task: the same line goes on
  resubmit=$((resubmit + 1))
  [ $resubmit -le 5 ] || { squeue; tail -n 40 log/*; exit 1; }
  scancel "$join" 2>/dev/null || true
  join=$(submit 6 --device cpu --threads 1 --cpu scalar)
done
same "shot.$video" "$kills workers killed, $resubmit more submissions after kills"
echo "all right"
