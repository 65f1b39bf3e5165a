#!/bin/bash -eu
# Builds the fuzz targets for ClusterFuzzLite, with a seed corpus and a dictionary each. What needs FFmpeg and
# OpenCV is left out: their decoders are fuzzed where they are made.
# SPDX-License-Identifier: MIT
targets=(inspect_fuzz decode_fuzz round_trip_fuzz tables_fuzz recode_fuzz recode_file_fuzz walk_fuzz capi_fuzz container_fuzz differential_fuzz)
cmake -S . -B build/fuzz -G Ninja -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_BUILD_TYPE=RelWithDebInfo \
  -DZERORUN_FUZZ=ON -DZERORUN_CUDA=OFF -DZERORUN_IO=OFF -DZERORUN_PROGRAM=OFF -DZERORUN_SAMPLES=OFF
ninja -C build/fuzz "${targets[@]}"
for target in "${targets[@]}"; do
  cp "build/fuzz/tests/fuzz/$target" "$OUT/"
  seeds=(tests/hostile/*.jpg tests/fuzz/seeds/*.jpg) dictionary=tests/fuzz/jpeg.dict
  [ "$target" = container_fuzz ] && seeds=(tests/fuzz/seeds/*) dictionary=tests/fuzz/containers.dict
  zip -qj "$OUT/${target}_seed_corpus.zip" "${seeds[@]}"
  cp "$dictionary" "$OUT/$target.dict"
done
