#!/usr/bin/env bash
# Compiles every kernel for each architecture that releases have machine code for, without a GPU, and
# checks that registers, shared memory and the CTAs that a processor should hold fit it, and that no
# register is spilled. The rules stand in tests/cuda/kernel_resources.cpp.
# usage: tests/check_kernels.sh [--architectures '75 90'] [--jobs N] [FOLDER]
#   FOLDER keeps the reports (default: build/kernels); ccache, where it is installed, the objects
# SPDX-License-Identifier: MIT
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

architectures="75 80 86 89 90 100 120" jobs=$(nproc) folder=build/kernels
while (($#)); do
  case $1 in
    --architectures) architectures=${2:?--architectures needs a value}; shift ;;
    --jobs) jobs=${2:?--jobs needs a value}; shift ;;
    -h | --help) sed -n '2,7s/^# //p' "${BASH_SOURCE[0]}"; exit 0 ;;
    -*) echo "check_kernels.sh: unknown option $1" >&2; exit 2 ;;
    *) folder=$1 ;;
  esac
  shift
done

nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
command -v "$nvcc" >/dev/null || { echo "check_kernels.sh: there is no nvcc" >&2; exit 2; }
launcher=$(command -v ccache || true)
read -ra targets <<<"$architectures"
# PTX of the first one is kept in readable form: it says how many threads a CTA has.
codes=(-gencode "arch=compute_${targets[0]},code=[compute_${targets[0]},sm_${targets[0]}]")
for target in "${targets[@]:1}"; do codes+=(-gencode "arch=compute_$target,code=sm_$target"); done

# Without the host's pass, which took a tenth of the time: the build has it. ccache knows -c alone.
compile() {
  local base=$folder/${1//\//_}
  $launcher "$nvcc" -I codec/include -I . -I cuda/include -DZERORUN_HAVE_CUDA -O3 -DNDEBUG -std=c++20 \
    --expt-relaxed-constexpr "${codes[@]}" --no-compress -Xptxas=-v -c -fatbin "$1" \
    -o "$base.fatbin" >"$base.log" 2>&1 && return
  grep -E 'error|fatal' "$base.log" >&2 || cat "$base.log" >&2
  return 1
}

rm -rf "$folder"
mkdir -p "$folder"
# cuda/together.cu, the longest, is the first.
mapfile -t sources < <(find cuda -name '*.cu' | sort -r |
  grep -vxFf <(sed -n 's/^#include "\(.*\)"/\1/p' cuda/together.cu))
running=0 failed=0
for source in "${sources[@]}"; do
  if ((running == jobs)); then
    wait -n || failed=1
    running=$((running - 1))
  fi
  compile "$source" &
  running=$((running + 1))
done
while ((running > 0)); do
  wait -n || failed=1
  running=$((running - 1))
done
((failed == 0)) || { echo "check_kernels.sh: some kernels do not compile" >&2; exit 1; }

"${CXX:-g++}" -std=c++20 -O1 -I codec/include -I . -isystem "$(dirname "$(readlink -f "$nvcc")")/../include" \
  tests/cuda/kernel_resources.cpp -o "$folder/kernel_resources"
"$folder/kernel_resources" "$folder"/*.log "$folder"/*.fatbin >"$folder/report.txt" && status=0 || status=$?
c++filt <"$folder/report.txt"
exit "$status"
