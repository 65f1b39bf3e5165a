#!/usr/bin/env bash
# Shows that every rule of check_kernels.sh fails when it is broken: gives its checker reports that
# break one rule each, and plans that forget the limits of the device.
# SPDX-License-Identifier: MIT
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
build() {  # SOURCES PROGRAM
  "${CXX:-g++}" -std=c++20 -I "$1/codec/include" -I "$1" \
    -isystem "$(dirname "$(readlink -f "$nvcc")")/../include" "$1/tests/cuda/kernel_resources.cpp" -o "$2"
}
build . "$folder/checker"

report() {  # KERNEL ARCHITECTURE REGISTERS SHARED SPILLED
  cat <<TEXT
ptxas info    : Compiling entry function '$1' for 'sm_$2'
    0 bytes stack frame, $5 bytes spill stores, $5 bytes spill loads
ptxas info    : Used $3 registers, used 1 barriers, $4 bytes smem, 400 bytes cmem[0]
TEXT
}
entry() { printf '.visible .entry %s(\n)\n.maxntid %d, 1, 1\n{\n}\n' "$1" "$2"; }  # KERNEL THREADS

tile_kernels=(code_tiles_kernel{ILb1E,} collect_tiles_kernel code_collected_tiles_kernel{ILb1E,})
# The kernels that the checker wants to see, as they should be.
entries() {
  entry sync_subsequences_kernel 384
  entry decode_subsequences_kernel 224
  entry transform_blocks_kernel 64
  for kernel in "${tile_kernels[@]}"; do entry $kernel 128; done
  entry assemble_kernel 192
  for kernel in store_blocks_kernel {count,code,assemble}_scans_kernel; do entry $kernel 128; done
}
sound() {  # ARCHITECTURE
  report sync_subsequences_kernel "$1" 48 0 0
  report decode_subsequences_kernel "$1" 64 0 0
  report transform_blocks_kernel "$1" 80 9776 0
  for kernel in "${tile_kernels[@]}"; do
    report $kernel "$1" 96 43776 0
  done
  report assemble_kernel "$1" 32 18560 0
  for kernel in store_blocks_kernel {count,code,assemble}_scans_kernel; do
    report $kernel "$1" 40 1024 0
  done
}
entries >"$folder/entries.fatbin"
for architecture in 75 80 86 89 90 100 120; do sound $architecture; done >"$folder/sound.log"
failures=0
check() {  # NAME EXPECTED CHECKER FILE...: a complaint with EXPECTED, or none if EXPECTED is empty
  local name=$1 expected=$2 checker=$3 status=0
  "$checker" "${@:4}" >"$folder/out" || status=$?
  if [ -z "$expected" ] && [ "$status" -eq 0 ]; then return; fi
  if [ -n "$expected" ] && [ "$status" -ne 0 ] && grep -qF -- "$expected" "$folder/out"; then return; fi
  echo "$name: expected '${expected:-no complaint}', got:"
  cat "$folder/out"
  failures=$((failures + 1))
}
check "sound reports" "" "$folder/checker" "$folder/sound.log" "$folder/entries.fatbin"
plant() {  # NAME EXPECTED REPORT...
  report "${@:3}" | cat "$folder/sound.log" - >"$folder/planted.log"
  { entries; entry planted_kernel 512; } >"$folder/planted.fatbin"
  check "$1" "$2" "$folder/checker" "$folder/planted.log" "$folder/planted.fatbin"
}
plant "a kernel that fits" "" planted_kernel 90 64 49152 0
plant "a spill" "8 bytes of registers are spilled" planted_kernel 90 64 0 8
plant "a spill of CUB" "" _ZN3cub6kernelE 90 32 0 8
plant "a large spill of CUB" "80 bytes of registers are spilled" _ZN3cub6kernelE 90 32 0 80
plant "static shared memory" "50000 bytes of static shared memory" planted_kernel 86 64 50000 0
plant "registers" "a CTA of 512 threads with 136 registers" planted_kernel 75 136 0 0
plant "registers of a kernel without bounds" "a CTA of 1024 threads with 72 registers" unbounded 75 72 0 0
plant "CTAs of a processor" "a processor does not hold 5 CTAs" code_tiles_kernel 90 104 43776 0
plant "CTAs of Ampere's" "a processor does not hold 3 CTAs" code_tiles_kernel 80 176 43776 0
grep -v assemble_kernel "$folder/sound.log" >"$folder/planted.log"
check "a kernel that is gone" "there is no kernel assemble_kernel" "$folder/checker" "$folder/planted.log" \
  "$folder/entries.fatbin"

# Plans that ask for the same shared memory on every device, as they once did.
mkdir "$folder/tree"
tar --create codec cuda tests/cuda/kernel_resources.cpp | tar --extract --directory="$folder/tree"
plan=$folder/tree/cuda/decode/scan_plan.hpp
sed -i 's/while (wanted > 0 \&\& sync_shared_bytes(pairs, wanted) > limit) --wanted;//' "$plan"
cmp -s "$plan" cuda/decode/scan_plan.hpp && { echo "nothing was planted in $plan" >&2; exit 1; }
build "$folder/tree" "$folder/forgetful"
for capability in 7.5 8.6 8.9 12.0; do
  check "a plan without limits" "$capability sync_subsequences_kernel: a CTA of 384 threads with 48 registers and" \
    "$folder/forgetful" "$folder/sound.log" "$folder/entries.fatbin"
done
[ "$failures" -eq 0 ] || exit 1
echo "every rule about kernels fails when it is broken"
