// Each thread decodes a subsequence to pairs.
// SPDX-License-Identifier: MIT
#include "cuda/base/device_limits.hpp"
#include "cuda/base/check.hpp"
#include "cuda/base/launch.hpp"
#include "cuda/base/this_device.hpp"
#include "cuda/decode/own_subsequence.cuh"

namespace zerorun {
namespace {

/// CTAs for which the shared memory of a processor has room.
constexpr int kDecodeCtas = 5;
/// The most; a CTA has one for each subsequence of a chunk.
constexpr int kMostThreads = kChunkSubsequences;

extern __shared__ __align__(16) std::uint32_t dynamic_shared[];

static_assert(bounded_ctas(kDecodeCtas, kMostThreads, decode_shared_bytes(2), 90) == kDecodeCtas,
              "as measured on Hopper");

__global__ void __launch_bounds__(kMostThreads,
                                  bounded_ctas(kDecodeCtas, kMostThreads, decode_shared_bytes(2)))
    decode_subsequences_kernel(const __grid_constant__ ScanArgs a) {
  __shared__ std::uint64_t before;
  __shared__ std::uint32_t first_word;
  std::uint32_t* const words = dynamic_shared;
  const SymbolTables tables = load_tables<false>(a, dynamic_shared + kChunkWords, blockDim.x);
  if (threadIdx.x == 0) first_word = kNoWord;
  wait_for_previous_kernel();
  // Faults that this kernel has found so far count too: the pairs will not be used then.
  const bool given_up = faults_of(*a.summary) != 0;
  const OwnSubsequence own = a.own[blockIdx.x * blockDim.x + threadIdx.x];
  const std::uint64_t sum = a.chunk_counts[blockIdx.x] & kTileSumMask;
  if (__syncthreads_or(given_up)) {
    wait_for_copies();
    return;
  }
  // Not own.bit: in damaged data a codeword may run past its interval's end, so that the next
  // subsequence begins before that of this one.
  const std::uint32_t start = own.bit - unpack_walk_state(own.entry).overshoot;
  if (is_first_of_warp(own.end != 0)) atomicMin(&first_word, first_word_of(start));
  if (__syncthreads_or(own.end != 0))
    copy_clean_words(a.words(), (a.summary->clean_bytes + kCleanPadding) / 4, first_word,
                     blockDim.x, words, blockDim.x);
  if (threadIdx.x < 32) {
    const std::uint64_t found = count_before(a, sum);
    if (threadIdx.x == 0) before = found;
  }
  wait_for_copies();
  __syncthreads();
  std::uint32_t faults = fits_scan(a, before + sum) ? 0 : kFaultCount;
  if (faults == 0 && own.end != 0) {
    if (!has_right_blocks(a, own, own.interval, before)) faults = kFaultCount;
    faults |= decode_directly(a, SharedWords(words), first_word * 32, tables, own, before);
  }
  if (faults != 0) atomicOr(&a.summary->walk_faults, faults);
}

}  // namespace

Status prepare_decode_subsequences() {
  return permission_of<decode_subsequences_kernel>().prepare();
}

Status decode_subsequences(const ScanArgs& args, cudaStream_t stream) {
  const ScanPlan& plan = args.plan;
  ZR_TRY(permission_of<decode_subsequences_kernel>().raise(plan.decode_bytes));
  const LaunchShape shape{plan.chunks, plan.chunk_subsequences, plan.decode_bytes};
  return ZR_CUDA_STATUS(launch_behind(decode_subsequences_kernel, shape, stream, args));
}

}  // namespace zerorun
