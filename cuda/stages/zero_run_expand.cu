// CUDA twin of codec/decode/zero_run_expand.cpp: block run-length decode by CUB.
// SPDX-License-Identifier: MIT
#include "codec/decode/zero_run_expand.hpp"

#include <cub/block/block_run_length_decode.cuh>

#include "cuda/base/launch.hpp"
#include "cuda/base/scratch.hpp"
#include "cuda/base/tuning.hpp"

namespace zerorun {
namespace {

constexpr int kBlocks = tuning::kExpandBlocksPerCta;
constexpr int kThreadsPerBlock = 8;
constexpr int kThreads = kBlocks * kThreadsPerBlock;
/// A block has 64 coefficients and no run is empty, so it has at most 64 runs.
constexpr int kRunsPerThread = kBlockSize / kThreadsPerBlock;
constexpr int kItemsPerThread = kBlockSize / kThreadsPerBlock;
static_assert(kThreads % 32 == 0 && kBlocks <= 32);

using RunLengthDecode =
    cub::BlockRunLengthDecode<RunLevel, kThreads, kRunsPerThread, kItemsPerThread>;

__constant__ const std::array<std::uint8_t, kBlockSize> kNatural = kNaturalOfZigzag;

/// The sum over the eight threads of a block; each of them gets it.
__device__ unsigned sum_of_block(unsigned value) {
  for (int step = 1; step < kThreadsPerBlock; step *= 2)
    value += __shfl_xor_sync(0xFFFFFFFF, value, step);
  return value;
}

/// Makes one list of runs for the CTA, without gaps, because CUB allows empty runs only at its end.
/// A pair is a run of run + 1 coefficients whose last one is the level; what follows the last pair
/// of a block is one more run, with level 0. Returns the number of runs.
__device__ unsigned gather_runs(const ZeroRunExpandArgs& a, std::int64_t block, RunLevel* runs,
                                unsigned* first_run) {
  const unsigned in_cta = threadIdx.x / kThreadsPerBlock, part = threadIdx.x % kThreadsPerBlock;
  const bool valid = block < a.blocks;
  const RunLevel* pairs = a.pairs + block * kBlockSize;
  const unsigned count = valid ? a.pair_count[block] : 0;
  unsigned covered = 0;
  for (unsigned i = part; i < count; i += kThreadsPerBlock)
    covered += i == 0 ? 1 : pairs[i].run + 1;
  covered = sum_of_block(covered);
  const bool tail = valid && covered < kBlockSize;
  if (part == 0) first_run[in_cta] = count + tail;
  __syncthreads();
  if (threadIdx.x < 32) {
    const unsigned own = threadIdx.x < kBlocks ? first_run[threadIdx.x] : 0;
    unsigned sum = own;
    for (int step = 1; step < 32; step *= 2) {
      const unsigned left = __shfl_up_sync(0xFFFFFFFF, sum, step);
      if (threadIdx.x >= static_cast<unsigned>(step)) sum += left;
    }
    if (threadIdx.x < kBlocks) first_run[threadIdx.x] = sum - own;
    if (threadIdx.x == 31) first_run[kBlocks] = sum;
  }
  __syncthreads();
  RunLevel* out = runs + first_run[in_cta];
  for (unsigned i = part; i < count; i += kThreadsPerBlock) {
    RunLevel pair = pairs[i];
    if (i == 0) pair.run = 0;
    out[i] = pair;
  }
  if (tail && part == 0) out[count] = {0, static_cast<std::uint8_t>(kBlockSize - covered - 1), 0};
  return first_run[kBlocks];
}

__global__ void __launch_bounds__(kThreads) expand_kernel(ZeroRunExpandArgs a) {
  __shared__ typename RunLengthDecode::TempStorage temp;
  __shared__ RunLevel runs[kBlocks * kBlockSize];
  __shared__ unsigned first_run[kBlocks + 1];
  __shared__ alignas(16) std::int16_t natural[kBlocks][kBlockSize];
  const unsigned in_cta = threadIdx.x / kThreadsPerBlock;
  const std::int64_t block = std::int64_t{blockIdx.x} * kBlocks + in_cta;
  const unsigned run_total = gather_runs(a, block, runs, first_run);
  __syncthreads();

  RunLevel values[kRunsPerThread];
  unsigned lengths[kRunsPerThread];
  for (int i = 0; i < kRunsPerThread; ++i) {
    const unsigned r = threadIdx.x * kRunsPerThread + i;
    values[i] = r < run_total ? runs[r] : RunLevel{};
    lengths[i] = r < run_total ? values[i].run + 1u : 0u;
  }
  unsigned decoded_total;
  RunLengthDecode decoder(temp, values, lengths, decoded_total);
  RunLevel items[kItemsPerThread];
  unsigned offsets[kItemsPerThread];
  decoder.RunLengthDecode(items, offsets);

  // Every block decodes to 64 items, so a thread's items are an eighth of its own block.
  const unsigned part = threadIdx.x % kThreadsPerBlock;
  for (int i = 0; i < kItemsPerThread; ++i) {
    const unsigned k = part * kItemsPerThread + i;
    const std::int16_t level = offsets[i] == items[i].run ? items[i].level : std::int16_t{0};
    natural[in_cta][kNatural[k]] = k == 0 ? std::int16_t{0} : level;
    if (k == 0 && block < a.blocks) a.diff[block] = level;
  }
  __syncwarp();  // the eight threads of a block are of one warp
  if (block >= a.blocks) return;
  const auto* row = reinterpret_cast<const uint4*>(natural[in_cta]);
  reinterpret_cast<uint4*>(a.coefficients + block * kBlockSize)[part] = row[part];
}

}  // namespace

Status zero_run_expand_cuda(const ZeroRunExpandArgs& a, Exec& exec) {
  if (a.blocks == 0) return Status::ok();
  ZR_LAUNCH(expand_kernel, grid_size(a.blocks, kBlocks), kThreads, stream_of(exec), a);
  return Status::ok();
}

}  // namespace zerorun
