# A Slurm of three nodes on one machine, for run.sh: start_slurm, stop_slurm, and what kills parts of
# it. Every process is ended by the id that it wrote down. Everything is under $dir.
# Where the machine allows it (hosts.sh), each node has a network and mounts of its own.
# SPDX-License-Identifier: MIT

nodes=(n1 n2 n3)
# shellcheck source=tests/cluster/hosts.sh
. "$(dirname "${BASH_SOURCE[0]}")/hosts.sh"

is_confined() { [ "$ZERORUN_CLUSTER_CONFINED" = yes ]; }

# For the case that nothing else ends the daemons when this script is killed (see run.sh).
watch_this_script() {
  set -m  # a process group of its own, which a signal to ours does not reach
  (
    trap - EXIT
    exec </dev/null >/dev/null 2>&1
    cd /
    while kill -0 $$; do sleep 0.5; done
    isolated=$(cat "$dir/isolated" || echo no)
    stop_slurm
    processes_left | while read -r id _; do kill -KILL "$id"; done
  ) &
  watchdog=$!
  set +m
}

stop_watching() {
  [ -z "${watchdog:-}" ] || kill -KILL -- "-$watchdog" 2>/dev/null || true
  watchdog=
}

write_config() {
  local host
  host=$(hostname -s)
  mkdir -p "$dir/log" "$dir/state"
  cat >"$dir/slurm.conf" <<CONF
ClusterName=zerorun
SlurmctldHost=$host($login_address)
SlurmctldPort=$((base_port))
AuthType=auth/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool-%n
SlurmctldPidFile=$dir/ctld.pid
SlurmdPidFile=$dir/d-%n.pid
SlurmctldLogFile=$dir/log/ctld.log
SlurmdLogFile=$dir/log/d-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
SlurmdTimeout=10
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SchedulerParameters=sched_interval=1
NodeName=n[1-3] NodeHostname=$host NodeAddr=$node_addresses Port=[$((base_port + 1))-$((base_port + 3))] CPUs=2 RealMemory=500 State=UNKNOWN
PartitionName=p Nodes=n[1-3] Default=YES MaxTime=INFINITE State=UP
CONF
  export SLURM_CONF=$dir/slurm.conf
}

# Slurm signs with munge. One that runs already is used and left alone.
start_munge() {
  munge -n >/dev/null 2>&1 && return
  local own=$dir/munge
  mkdir -p /run/munge "$own"
  dd if=/dev/urandom bs=1024 count=1 of="$own/key" status=none
  chmod 400 "$own/key"
  chown -R munge: /run/munge "$own"
  chmod 755 "$dir"
  su -s /bin/sh munge -c "/usr/sbin/munged --key-file=$own/key --pid-file=$own/munged.pid \
    --log-file=$own/munged.log --seed-file=$own/seed"
}

start_node() { on_host "$1" slurmd -N "$1"; }

start_slurm() {
  base_port=$((17000 + RANDOM % 2000 * 4))
  make_hosts
  echo $isolated >"$dir/isolated"
  write_config
  start_munge
  slurmctld -c
  local node
  for node in "${nodes[@]}"; do
    mkdir -p "$dir/spool-$node"
    start_node "$node"
  done
  for _ in $(seq 600); do
    [ "$(sinfo -h -N -o %T 2>/dev/null | grep -c idle)" = 3 ] && return
    sleep 0.1
  done
  sinfo -N || true
  echo "FAILED: Slurm's nodes do not come up"
  exit 1
}

end_by_file() {  # FILE SIGNAL
  local id
  id=$(cat "$1" 2>/dev/null) || return 0
  kill "-$2" "$id" 2>/dev/null || return 0
  for _ in $(seq 100); do
    kill -0 "$id" 2>/dev/null || return 0
    sleep 0.1
  done
}

empty_queue() {
  for _ in $(seq 100); do
    scancel -u root 2>/dev/null || true
    [ -z "$(squeue -h 2>/dev/null)" ] && break
    sleep 0.1
  done
}

stop_slurm() {
  if [ -s "$dir/ctld.pid" ] && kill -0 "$(cat "$dir/ctld.pid")" 2>/dev/null; then empty_queue; fi
  local node
  for node in "${nodes[@]}"; do end_by_file "$dir/d-$node.pid" TERM; done
  end_by_file "$dir/ctld.pid" TERM
  end_by_file "$dir/munge/munged.pid" TERM
  remove_hosts
}

# Every process that has the folder of this run in its command line, as its working folder, or in its
# environment, as all that Slurm has started.
processes_left() {
  local process
  for process in /proc/[0-9]*; do
    [ "${process#/proc/}" != $$ ] && [ "${process#/proc/}" != "$BASHPID" ] || continue
    if grep -qaF "$dir" "$process/cmdline" "$process/environ" 2>/dev/null ||
      [ "$(readlink "$process/cwd" 2>/dev/null)" = "$dir" ]; then
      grep -qE "^PPid:[[:space:]]*($$|$BASHPID)\$" "$process/status" 2>/dev/null && continue  # of this script
      echo "${process#/proc/} $(tr '\0' ' ' 2>/dev/null <"$process/cmdline" || true)"
    fi
  done
}

job_state() { scontrol show job "$1" 2>/dev/null | sed -nE 's/.*JobState=([A-Z_]+) .*/\1/p'; }

# A controller that was killed takes jobs that it had forgotten for strangers: it drains their nodes, and
# holds the jobs that it could not start there.
resume_what_slurm_stopped() {
  local node id
  for id in $(squeue -h -t PD -o '%A %r' 2>/dev/null | sed -n 's/ .*requeued held.*//p'); do
    scontrol release "$id" 2>/dev/null || true
  done
  for node in $(sinfo -h -N -t drain,down -o %N 2>/dev/null); do
    scontrol update NodeName="$node" State=RESUME 2>/dev/null || true
  done
}

# 0 when the job is complete, 1 when it failed, can never run, or is not known: a controller that is
# killed forgets what it had not written.
wait_for_job() {
  local state reason id shown
  for _ in $(seq 1800); do
    # After the loss of a node Slurm waits two minutes before it runs a job again.
    for id in $(squeue -h -t PD -o '%i %r' 2>/dev/null | sed -n 's/ BeginTime$//p'); do
      scontrol update JobId="$id" StartTime=now 2>/dev/null || true
    done
    shown=$(scontrol show job "$1" 2>&1) || true
    [[ $shown != *"Invalid job id"* ]] || return 1
    read -r state reason < <(printf '%s\n' "$shown" |
      sed -nE 's/.*JobState=([A-Z_]+) Reason=([A-Za-z_]+).*/\1 \2/p') || true
    case ${state:-} in
      COMPLETED) return 0 ;;
      FAILED | CANCELLED | TIMEOUT | NODE_FAIL | BOOT_FAIL) return 1 ;;
    esac
    [ "${reason:-}" != DependencyNeverSatisfied ] || return 1
    resume_what_slurm_stopped
    sleep 0.1
  done
  return 1
}

kill_and_restart_controller() {
  end_by_file "$dir/ctld.pid" KILL
  slurmctld
}

# As a power cut of the node: its daemon, its steps, its workers, all at once.
crash_node() {
  local id
  if is_isolated; then
    for id in $(ip netns pids "$(host_name "$1")"); do kill -KILL "$id" 2>/dev/null || true; done
    rm -f "$dir/d-$1.pid"
    start_node "$1"
  else
    kill_and_restart_node "$1"
  fi
}

kill_and_restart_node() {
  end_by_file "$dir/d-$1.pid" KILL
  start_node "$1"
}

# SIGTERM to the script of a running task, as Slurm's --signal sends it before the time is over.
give_notice() {
  local task
  task=$(squeue -h -t R -o %A 2>/dev/null | shuf -n 1)
  [ -n "$task" ] && scancel --batch --signal=TERM "$task" 2>/dev/null
}

# A worker is a zerorun whose command line names a file under FOLDER: no other process is touched.
kill_a_worker() {
  local process
  for process in /proc/[0-9]*; do
    [ "$(readlink "$process/exe" 2>/dev/null)" = "$ZERORUN" ] || continue
    tr '\0' ' ' <"$process/cmdline" 2>/dev/null | grep -qF " $1/" || continue
    if find "$process/fd" -lname 'socket:*' 2>/dev/null | grep -q .; then
      echo "FAILED: worker ${process#/proc/} has a socket"
      exit 1
    fi
    kill -KILL "${process#/proc/}" 2>/dev/null || continue
    return 0
  done
  return 1
}
