// CUDA twin of codec/decode/zero_run_expand.cpp: block run-length decode by CUB. A warp does a
// block.
// SPDX-License-Identifier: MIT
#include "codec/decode/zero_run_expand.hpp"

#include <cub/block/block_run_length_decode.cuh>

#include "cuda/base/launch.hpp"
#include "cuda/base/scratch.hpp"

namespace zerorun {
namespace {

constexpr int kThreads = 32;
/// Runs, and coefficients: no run is empty, so a block has at most 64 runs.
constexpr int kPerThread = kBlockSize / kThreads;
using RunLengthDecode = cub::BlockRunLengthDecode<RunLevel, kThreads, kPerThread, kPerThread>;

__constant__ const std::array<std::uint8_t, kBlockSize> kNatural = kNaturalOfZigzag;

/// A pair is a run of run + 1 coefficients whose last one is the level. Coefficients after the last
/// pair are 0.
__global__ void __launch_bounds__(kThreads) expand_kernel(ZeroRunExpandArgs a) {
  __shared__ typename RunLengthDecode::TempStorage temp;
  const std::int64_t block = blockIdx.x;
  const unsigned count = a.pair_count[block], first = threadIdx.x * kPerThread;
  RunLevel runs[kPerThread];
  unsigned lengths[kPerThread];
  for (int i = 0; i < kPerThread; ++i) {
    const unsigned r = first + i;
    runs[i] = r < count ? a.pairs[block * kBlockSize + r] : RunLevel{};
    if (r == 0) runs[i].run = 0;  // DC
    lengths[i] = r < count ? runs[i].run + 1u : 0u;
  }
  unsigned total;
  RunLengthDecode decoder(temp, runs, lengths, total);
  RunLevel items[kPerThread];
  unsigned offsets[kPerThread];  // of each item in its run
  decoder.RunLengthDecode(items, offsets);
  for (int i = 0; i < kPerThread; ++i) {
    const unsigned k = first + i;
    const bool is_level = k < total && offsets[i] == items[i].run;
    const std::int16_t level = is_level ? items[i].level : std::int16_t{0};
    if (k == 0) a.diff[block] = level;
    a.coefficients[block * kBlockSize + kNatural[k]] = k == 0 ? std::int16_t{0} : level;
  }
}

}  // namespace

Status zero_run_expand_cuda(const ZeroRunExpandArgs& a, Exec& exec) {
  if (a.blocks == 0) return Status::ok();
  ZR_LAUNCH(expand_kernel, grid_size(a.blocks, 1), kThreads, stream_of(exec), a);
  return Status::ok();
}

}  // namespace zerorun
