#!/bin/bash
# Encodes INPUT to OUTPUT in SHARDS parts with GNU parallel, and joins them. A failed part is tried
# three times and goes on at its last frame.
#   encode_parallel.sh INPUT OUTPUT SHARDS [OPTIONS of parallel, such as -j 4 or --sshlogin HOSTS]
# SPDX-License-Identifier: MIT
set -eu
program=${ZERORUN:-zerorun} input=$1 output=$2 shards=$3
seq 0 $((shards - 1)) | parallel -q "${@:4}" --retries 3 --halt soon,fail=1 \
  "$program" encode "$input" -o "$output" --shard "{}/$shards" --resume --threads 1
"$program" concat "$output" -y --audio "$input" --delete-shards
