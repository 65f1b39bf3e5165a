#!/bin/bash
# Encodes INPUT to OUTPUT with one shard for each process of Open MPI's launcher, and joins them.
#   encode_mpirun.sh INPUT OUTPUT [OPTIONS of mpirun, such as -np 16 or --hostfile FILE]
# zerorun links no MPI: it reads OMPI_COMM_WORLD_RANK and _SIZE. The same line goes on after a kill.
# SPDX-License-Identifier: MIT
set -eu
program=${ZERORUN:-zerorun} input=$1 output=$2
mpirun "${@:3}" "$program" encode "$input" -o "$output" --shard auto --resume --threads 1
"$program" concat "$output" -y --audio "$input" --delete-shards
