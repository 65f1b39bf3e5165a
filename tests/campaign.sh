#!/usr/bin/env bash
# Runs figures of the reliability campaign, R1 to R19 and coverage, and prints a table: figure, goal, reached, seconds.
# Results and the progress of long figures lie in build/campaign, so a later run goes on where this one ends.
# SPDX-License-Identifier: MIT
set -u -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD state=${ZERORUN_CAMPAIGN:-$PWD/build/campaign} minutes=10 again=0 only_table=0 wanted=()
source tests/campaign/figures.sh

usage() {
  cat <<TEXT
usage: tests/campaign.sh [--minutes N] [--again] [--table] [--survey FOLDER] [FIGURE...]

  FIGURE       R1 to R19, coverage; all of them if none is named
  --minutes N  how long each of the long figures (R5, R7, R9, R13, R17) may take in this run; default 10
  --again      forgets what earlier runs of these figures reached
  --survey D   the folder of JPEG files for R4, or ZERORUN_SURVEY (default: the corpora)
  --table      runs nothing and prints the table of what has been reached

  ZERORUN_TEST_DATA  the corpora (default: ../shared/data); figures that need them say so where they are missing
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
    -h | --help) usage; exit 0 ;;
    R[1-9] | R1[0-9] | coverage) wanted+=("$1") ;;
    *) echo "campaign.sh: '$1' is no figure and no option" >&2; usage >&2; exit 2 ;;
  esac
  shift
done
[[ $minutes =~ ^[1-9][0-9]*$ ]] || { echo "campaign.sh: --minutes takes a whole number" >&2; exit 2; }
export ZERORUN_TEST_DATA=${ZERORUN_TEST_DATA:-$root/../shared/data}
mkdir -p "$state" && state=$(realpath "$state")

# A figure is a function. It prints what it does, and last a line "reached: SENTENCE". It returns 0 if
# the goal is reached, 3 if nothing is wrong but more is to do (the next run goes on), 77 if the figure
# cannot run here, and otherwise it is missed.
run_figure() {
  local figure=$1 begin=$SECONDS code verdict reached
  printf '== %s: %s\n' "$figure" "${goals[$figure]}"
  if ((again)); then rm -rf "$state/$figure".*; fi
  ("$figure") 2>&1 | tee "$state/$figure.log" | sed 's/^/   /'
  code=${PIPESTATUS[0]}
  case $code in 0) verdict=reached ;; 3) verdict="so far" ;; 77) verdict="not run" ;; *) verdict=MISSED ;; esac
  reached=$(grep '^reached: ' "$state/$figure.log" | tail -n 1 | cut -c10-)
  printf '%s\t%s\t%d\t%s\t%s\n' "$verdict" "${reached:-ended with code $code; see $state/$figure.log}" \
    $((SECONDS - begin)) "$(date +%F)" "$(machine)" >"$state/$figure.result"
}

machine() {
  printf '%s cores of %s' "$(nproc)" "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)"
}

# Prints the last result of every figure that has one.
table() {
  local figure verdict reached seconds date machine
  printf '| figure | goal | reached | seconds | date |\n| --- | --- | --- | --- | --- |\n'
  for figure in "${figures[@]}"; do
    [ -e "$state/$figure.result" ] || continue
    IFS=$'\t' read -r verdict reached seconds date machine <"$state/$figure.result"
    [ "$verdict" = reached ] || reached="**$verdict:** $reached"
    printf '| %s | %s | %s | %s | %s |\n' "$figure" "${goals[$figure]}" "$reached" "$seconds" "$date"
  done
  cat "$state"/*.result 2>/dev/null | cut -f5 | sort -u | sed 's/^/machine: /'
}

((${#wanted[@]})) || wanted=("${figures[@]}")
if ! ((only_table)); then
  for figure in "${wanted[@]}"; do run_figure "$figure"; done
fi
table
for figure in "${wanted[@]}"; do
  ! grep -q '^MISSED' "$state/$figure.result" 2>/dev/null || exit 1
done
