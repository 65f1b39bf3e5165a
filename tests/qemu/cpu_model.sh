#!/usr/bin/env bash
# Runs parity tests of the CPU backend on an emulated processor, which has just the instruction sets
# SETS. An instruction that the processor lacks ends the test by a signal.
# usage: cpu_model.sh MODEL SETS TEST-PROGRAM
# SPDX-License-Identifier: MIT
set -euo pipefail
model=$1 sets=$2 program=$3
emulator=$(command -v qemu-x86_64-static || command -v qemu-x86_64) || {
  echo "skipped: there is no qemu-x86_64-static (Debian: qemu-user-static)"
  exit 77
}
# Warnings name the features of the model that qemu does not emulate.
ZERORUN_EXPECTED_CPUS=$sets "$emulator" -cpu "$model" "$program" \
  --gtest_filter='CpuTarget.*:CpuChoice.*:FastTransform.Inverse*:FastEncode.HardBlocks:FastEncode.EveryDivisor:FastDecode.EveryFormat'
