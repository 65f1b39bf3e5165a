// Each thread decodes a subsequence to pairs.
// SPDX-License-Identifier: MIT
#include "cuda/decode/walk_scan.hpp"

#include "cuda/base/architecture.cuh"
#include "cuda/base/check.hpp"
#include "cuda/base/launch.hpp"
#include "cuda/base/shared_permission.hpp"
#include "cuda/decode/pair_sink.cuh"
#include "cuda/decode/shared_memory.hpp"
#include "cuda/decode/shared_tables.cuh"

namespace zerorun {
namespace {

/// The most; a CTA has one for each subsequence of a chunk.
constexpr int kMostThreads = kChunkSubsequences;

using SymbolTables = SharedTables<kSymbolIndexBits>;

extern __shared__ __align__(16) std::uint32_t dynamic_shared[];

/// Blocks and pairs before a chunk, and before the next one.
struct ChunkCounts {
  std::uint64_t before, after;
};

/// Decodes the subsequence. Checks that it ends where the next one begins and has the blocks and
/// pairs that sync_subsequences() counted: two walks over the same bits may end a few symbols
/// apart, and then one must not be used to count and the other to go on from. Returns faults. Bits
/// count from `origin`.
__device__ std::uint32_t decode(const WalkArgs& a, const SymbolTables& tables,
                                const SharedWords& bits, std::uint32_t origin,
                                const SubsequenceStart* sub, const ChunkCounts& counts) {
  const SubsequenceStart own = *sub;
  if (own.end == 0) return 0;
  const auto before = [&](const SubsequenceStart& r) {
    return counts.before + pack_counts(r.block, r.pair);
  };
  const std::uint64_t next = threadIdx.x + 1 < blockDim.x ? before(sub[1]) : counts.after;
  PairTarget target{blocks_of(before(own)), pairs_of(before(own))};
  // The number of blocks is checked at both ends of an interval: an interval may have twice as
  // many, and the next one none.
  if (own.is_first && own.interval * a.interval_blocks != target.block) return kFaultCount;
  const std::uint32_t stop = own.is_last ? own.end : sub[1].bit;
  const WalkSpan span{stop - origin, own.end - origin};
  std::uint32_t bit = own.bit - origin, phase = own.phase, k = own.k;
  PairSink sink{kept(a.pairs), kept(a.wide), kept(a.block_pair), (target.pair + 7) / 8 * 8};
  std::uint32_t faults = decode_subsequence(bits, tables, span, target, sink, bit, phase, k);
  if (pack_counts(target.block, target.pair) != next) faults |= kFaultCount;
  if (own.is_last) {
    const std::uint32_t blocks = min((own.interval + 1) * a.interval_blocks, a.blocks);
    const bool whole = k == 0 && target.block == blocks && bit + 8 > span.end;
    return faults | (whole ? 0 : kFaultCount);
  }
  const bool meets = bit == span.stop && phase == sub[1].phase && k == sub[1].k;
  return faults | (meets ? 0 : kFaultSync);
}

static_assert(bounded_ctas(kDecodeCtas, kMostThreads, decode_shared_bytes(2), 90) == kDecodeCtas,
              "as measured on Hopper");

__global__ void __launch_bounds__(kMostThreads,
                                  bounded_ctas(kDecodeCtas, kMostThreads, decode_shared_bytes(2)))
    decode_subsequences_kernel(const __grid_constant__ WalkArgs a) {
  std::uint32_t* const words = dynamic_shared;
  const SymbolTables tables = load_tables<kSymbolIndexBits>(
      a.tables, a.tables->symbol, a.cycle, dynamic_shared + kChunkWords, blockDim.x);
  wait_for_previous_kernel();
  // Faults that this kernel has found so far count too: the pairs will not be used then.
  const bool given_up = __syncthreads_or(a.summary->faults != 0);
  const std::uint32_t first_word = given_up ? kNoWord : a.chunk_word[blockIdx.x];
  if (first_word == kNoWord) {
    wait_for_copies();
    return;
  }
  copy_clean_words(a.words, clean_words(*a.summary), first_word, words_of_subsequences(blockDim.x),
                   words, blockDim.x);
  const ChunkCounts counts{a.chunk_first[blockIdx.x], a.chunk_first[blockIdx.x + 1]};
  wait_for_copies();
  __syncthreads();
  const SubsequenceStart* const sub = a.starts + blockIdx.x * blockDim.x + threadIdx.x;
  const std::uint32_t faults = decode(a, tables, SharedWords(words), first_word * 32, sub, counts);
  if (faults != 0) atomicOr(&a.summary->faults, faults);
}

SharedPermission& permission() {
  static SharedPermission of_kernel(reinterpret_cast<const void*>(decode_subsequences_kernel));
  return of_kernel;
}

}  // namespace

Status prepare_decode_subsequences() { return permission().prepare(); }

Status decode_subsequences(const WalkArgs& args, std::size_t shared_bytes, cudaStream_t stream) {
  const LaunchShape shape{args.chunks, args.chunk_subsequences, shared_bytes};
  ZR_TRY(permission().raise(shared_bytes));
  ZR_CUDA_TRY(launch_behind(decode_subsequences_kernel, shape, stream, args));
  return Status::ok();
}

}  // namespace zerorun
