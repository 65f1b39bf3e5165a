#!/usr/bin/env bash
# Runs figures of the reliability campaign, R1 to R19, coverage, edges and load, and prints a table: figure, goal, reached, seconds.
# Results and the progress of long figures lie in build/campaign, so a later run goes on where this one ends.
# SPDX-License-Identifier: MIT
set -u -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD state=${ZERORUN_CAMPAIGN:-$PWD/build/campaign} minutes=10 again=0 only_table=0 on_gpu=0 wanted=()
source tests/campaign/figures.sh
source tests/campaign/gpu_figures.sh

usage() {
  cat <<TEXT
usage: tests/campaign.sh [--gpu] [--minutes N] [--again] [--table] [--survey FOLDER] [FIGURE...]

  FIGURE       R1 to R19, coverage, edges, load; all of them if none is named. edges needs clang++ with libFuzzer
  --gpu        the GPU's part of the figures (R1, R3, R4, R6, R7, R8, R10, R13, R14, R17), against the CPU's results: rows
               R7-gpu and so on. Builds the preset gpu. R13 runs beside the others
  --minutes N  how long each of the long figures (R5, R7, R9, R13, R17, edges, load; all of a GPU) may take in this run; default 10
  --again      forgets what earlier runs of these figures reached
  --survey D   the folder of JPEG files for R4, or ZERORUN_SURVEY (default: the corpora). R4 lists what only libjpeg-turbo takes
  --table      runs nothing and prints the table of what has been reached

  ZERORUN_TEST_DATA  the corpora (default: ../shared/data); figures that need them say so where they are missing
  ZERORUN_GPU_BUILT  a build folder whose programs --gpu runs as they are; else it builds build/gpu
  ZERORUN_EDGES_BUILT  a build folder of the preset edges whose programs edges runs as they are; else it builds build/edges
  ZERORUN_CAMPAIGN_THREADS  threads of --gpu and edges, where the processor's number says too much (a container)
  ZERORUN_CAMPAIGN   the folder of results and progress, which may outlive this clone (default: build/campaign)

Exit code 0: every figure that ran is reached; 1: one is missed. The log of a figure is FIGURE.log there.
TEXT
}

while (($#)); do
  case $1 in
    --minutes) minutes=${2:?--minutes needs a number}; shift ;;
    --again) again=1 ;;
    --survey) ZERORUN_SURVEY=$(realpath -e -- "${2:?--survey needs a folder}") || exit 2; shift ;;
    --table) only_table=1 ;;
    --gpu) on_gpu=1 ;;
    -h | --help) usage; exit 0 ;;
    R[1-9] | R1[0-9] | coverage | edges | load) wanted+=("$1") ;;
    *) echo "campaign.sh: '$1' is no figure and no option" >&2; usage >&2; exit 2 ;;
  esac
  shift
done
[[ $minutes =~ ^[1-9][0-9]*$ ]] || { echo "campaign.sh: --minutes takes a whole number" >&2; exit 2; }
export ZERORUN_TEST_DATA=${ZERORUN_TEST_DATA:-$root/../shared/data}
mkdir -p "$state" && state=$(realpath "$state")

# R7-gpu is the function gpu_R7.
function_of() { case $1 in *-gpu) printf 'gpu_%s' "${1%-gpu}" ;; *) printf '%s' "$1" ;; esac; }

# A figure is a function. It prints what it does, and last a line "reached: SENTENCE". It returns 0 if
# the goal is reached, 3 if nothing is wrong but more is to do (the next run goes on), 77 if the figure
# cannot run here, and otherwise it is missed.
run_figure() {
  local figure=$1 begin=$SECONDS code verdict reached
  printf '== %s: %s\n' "$figure" "${goals[$figure]}"
  if ((again)); then rm -rf "$state/$figure".*; fi
  ("$(function_of "$figure")") 2>&1 | tee "$state/$figure.log" | sed 's/^/   /'
  code=${PIPESTATUS[0]}
  case $code in 0) verdict=reached ;; 3) verdict="so far" ;; 77) verdict="not run" ;; *) verdict=MISSED ;; esac
  reached=$(grep '^reached: ' "$state/$figure.log" | tail -n 1 | cut -c10-)
  printf '%s\t%s\t%d\t%s\t%s\n' "$verdict" "${reached:-ended with code $code; see $state/$figure.log}" \
    $((SECONDS - begin)) "$(date +%F)" "$(machine)" >"$state/$figure.result"
}

machine() {
  printf '%s cores of %s' "$(nproc)" "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)"
  nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -n 1 | sed 's/^/, /' | tr -d '\n'
}

# Prints the last result of every figure that has one.
table() {
  local figure verdict reached seconds date machine
  printf '| figure | goal | reached | seconds | date |\n| --- | --- | --- | --- | --- |\n'
  for figure in $(printf '%s\n' "${figures[@]}" | sed 'p; s/$/-gpu/'); do
    [ -e "$state/$figure.result" ] || continue
    IFS=$'\t' read -r verdict reached seconds date machine <"$state/$figure.result"
    [ "$verdict" = reached ] || reached="**$verdict:** $reached"
    printf '| %s | %s | %s | %s | %s |\n' "$figure" "${goals[$figure]}" "$reached" "$seconds" "$date"
  done
  cat "$state"/*.result 2>/dev/null | cut -f5 | sort -u | sed 's/^/machine: /'
}

# Those of WANTED that have a part for the GPU, by the names of their rows.
of_gpu() {
  local figure
  for figure in "$@"; do
    if [[ " ${gpu_figures[*]} " == *" $figure "* ]]; then
      printf '%s-gpu\n' "$figure"
    else
      echo "campaign.sh: $figure has no part for the GPU" >&2
    fi
  done
}

# R10 needs all memory of the GPU, so it comes first. R13 then runs beside the others, until they have ended.
run_on_gpu() {
  local figure soak=
  rm -f "$state/beside"
  if (need_gpu) >/dev/null; then build_gpu; fi
  for figure in "$@"; do [ "$figure" != R10-gpu ] || run_figure R10-gpu; done
  if [[ " $* " == *" R13-gpu "* ]]; then
    (($# == 1)) || touch "$state/beside"
    run_figure R13-gpu >"$state/R13-gpu.beside.log" 2>&1 &
    soak=$!
  fi
  for figure in "$@"; do [[ $figure == R1[03]-gpu ]] || run_figure "$figure"; done
  rm -f "$state/beside"
  [ -z "$soak" ] || { wait "$soak"; cat "$state/R13-gpu.beside.log"; }
}

if ((on_gpu)); then
  ((${#wanted[@]})) || wanted=("${gpu_figures[@]}")
  mapfile -t wanted < <(of_gpu "${wanted[@]}")
else
  ((${#wanted[@]})) || wanted=("${figures[@]}")
  # These two have no other part.
  wanted=("${wanted[@]/%R6/R6-gpu}")
  wanted=("${wanted[@]/%R14/R14-gpu}")
fi
if ((only_table)); then
  :
elif ((on_gpu)); then
  run_on_gpu "${wanted[@]}"
else
  for figure in "${wanted[@]}"; do run_figure "$figure"; done
fi
table
for figure in "${wanted[@]}"; do
  ! grep -q '^MISSED' "$state/$figure.result" 2>/dev/null || exit 1
done
