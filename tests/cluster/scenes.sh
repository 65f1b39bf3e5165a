# The scenes of run.sh, which starts this script; nothing else does.
# SPDX-License-Identifier: MIT
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
wanted_kills=$1 most_minutes=${ZERORUN_CLUSTER_MINUTES:-20}
samples=$root/samples/cluster
dir=$ZERORUN_CLUSTER_DIR
cd "$dir"
# shellcheck source=tests/cluster/slurm.sh
. "$root/tests/cluster/slurm.sh"
trap 'exit 143' HUP INT TERM
trap 'stop_slurm; stop_watching' EXIT
if is_confined; then
  mount -t tmpfs none /run  # names of networks and munge's socket, which no other process is to see
  ip link set lo up
else
  watch_this_script
fi

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
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
"$samples/encode_mpirun.sh" \
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
is_isolated && echo "three hosts with networks and mounts of their own" || echo "three daemons on one host"
submit() {  # prints the id of the job that joins
  bash "$samples/encode_array.sbatch" "$dir/in/long.y4m" "$dir/out/shot.$video" "$@" |
    tee submit.log | sed -n 's/^Submitted batch job //p'
}
fresh
join=$(submit 6 --device cpu --threads 1)
wait_for_job "$join"
same "shot.$video" "array and dependent job"

echo "== Slurm, arrays as they are numbered"
array() {  # RANGE OUTPUT: waits; 0 if all tasks did well
  sbatch --wait --quiet --array="$1" --output="$dir/array-%a.log" \
    --wrap "env | grep SLURM_ARRAY; exec '$ZERORUN' encode '$dir/in/long.y4m' -o '$dir/out/$2' --shard auto --device cpu"
}
fresh
array 1-5:2 "shot.$video" || { cat array-*.log; exit 1; }
"$ZERORUN" concat "out/shot.$video" --delete-shards --quiet
same "shot.$video" "array with a step"
fresh
! array 3,4,7 "shot.$video" 2>/dev/null || { echo "FAILED: a list with gaps was taken for shards"; exit 1; }
echo "ok: a list with gaps is refused: $(tail -n 1 array-7.log)"

echo "== Slurm, tasks of one job"
fresh
srun --quiet -N 3 -n 6 "$ZERORUN" encode "$dir/in/long.y4m" -o "$dir/out/shot.$video" --shard auto --device cpu --quiet
"$ZERORUN" concat "out/shot.$video" --delete-shards --quiet
same "shot.$video" "srun"
fresh
# The ranks inherit SLURM_PROCID=0 of the job's script.
sbatch --wait --quiet -N 1 -n 2 --output="$dir/mpi-job.log" --wrap \
  "'$samples/encode_mpirun.sh' '$dir/in/long.y4m' '$dir/out/shot.$video' -np 2" || { cat mpi-job.log; exit 1; }
same "shot.$video" "mpirun in a job of Slurm"

echo "== Slurm, with controller, nodes and workers killed"
python3 "$root/tests/cluster/make_input.py" in/hd.y4m 1280 720 600
slow=(-q 97 --device cpu --threads 1 --cpu scalar)  # so that workers live long enough to be hit
"$ZERORUN" encode in/hd.y4m -o "one/hd.$video" --quiet -q 97 --device cpu
declare -A killed=()
strike() {  # kills something that is there; 1 if there was nothing
  local node=n$((RANDOM % 3 + 1)) what
  case $((RANDOM % 10)) in
    [0-5]) kill_a_worker "$dir/out" || return 1; what="worker" ;;
    6) give_notice || return 1; what="notice by SIGTERM" ;;
    7) crash_node $node; what="whole node" ;;
    8) kill_and_restart_node $node; what="node's daemon" ;;
    9) kill_and_restart_controller; what="controller" ;;
  esac
  killed[$what]=$((${killed[$what]:-0} + 1)) kills=$((kills + 1))
}
submit_hd() {
  bash "$samples/encode_array.sbatch" "$dir/in/hd.y4m" "$dir/out/hd.$video" 6 "${slow[@]}" |
    tee submit.log | sed -n 's/^Submitted batch job //p'
}
strike_for_a_while() {  # JOB MOST: until the job has ended or so many strikes were made
  local until=$((kills + $2)) begin=$SECONDS
  while [ $kills -lt $until ] && [ $kills -lt "$wanted_kills" ] && [ $((SECONDS - begin)) -lt 60 ]; do
    sleep 0.$((RANDOM % 7 + 2))
    [[ $(job_state "$1") =~ ^(PENDING|RUNNING|COMPLETING|)$ ]] || return 0
    strike || true
  done
}
kills=0 rounds=0 resubmit=0
while [ $kills -lt "$wanted_kills" ]; do
  [ $SECONDS -lt $((60 * most_minutes)) ] ||
    { echo "FAILED: $kills of $wanted_kills kills in $most_minutes minutes"; exit 1; }
  rounds=$((rounds + 1)) tries=0
  empty_queue  # a controller that lost its state may run a job of the last round again
  fresh
  join=$(submit_hd)
  strike_for_a_while "$join" 10
  # A worker that was killed failed its task: the same line goes on. A controller that was killed may
  # have lost the job and given its number to another one, so it is the file that counts.
  until wait_for_job "$join" && [ -e "out/hd.$video" ]; do
    resubmit=$((resubmit + 1)) tries=$((tries + 1))
    [ $tries -le 8 ] || { squeue; tail -n 40 log/* zerorun-*.log; exit 1; }
    empty_queue
    join=$(submit_hd)
  done
  same "hd.$video" "round $rounds, $kills kills"
done
for what in "${!killed[@]}"; do echo "${killed[$what]} times: $what"; done
echo "$kills kills in $rounds rounds, $resubmit more submissions after them"

stop_slurm
left=$(processes_left)
[ -z "$left" ] || { echo "FAILED: processes are left: $left"; exit 1; }
echo "no process is left"
echo "all right"
