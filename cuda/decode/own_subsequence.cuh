// A subsequence whose start is known, decoded to pairs by one thread; and what its chunk has to
// know of the chunks before.
// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/base/look_back.cuh"
#include "cuda/decode/pair_sink.hpp"
#include "cuda/decode/shared_tables.cuh"
#include "cuda/decode/scan_kernels.hpp"

namespace zerorun {

/// Decodes the subsequence, with bits from `origin` on. Checks that it ends where the next one
/// begins and has the blocks and pairs that were counted: two walks over the same bits may end a
/// few symbols apart. Returns faults. `Sink`: place() gives blocks and pairs as it counts them.
template <typename Sink>
__device__ std::uint32_t decode_own(const SharedWords& bits, std::uint32_t origin,
                                    const SymbolTables& tables, const OwnSubsequence& own,
                                    const PairTarget& target, Sink& sink) {
  const std::uint32_t end = own.end - origin;
  const WalkSpan span{own.is_last ? end : own.stop - origin, end};
  const WalkState entry = unpack_walk_state(own.entry), exit = unpack_walk_state(own.exit);
  std::uint32_t bit = own.bit - origin, phase = entry.phase, k = entry.k;
  PairTarget now = sink.place(target);
  std::uint32_t faults = decode_subsequence(bits, tables, span, now, sink, bit, phase, k);
  const PairTarget behind = sink.place({target.block + own.blocks, target.pair + own.pairs});
  if (now.block != behind.block || now.pair != behind.pair) faults |= kFaultCount;
  if (own.is_last) {
    const bool whole = k == 0 && bit + 8 > span.end;
    return faults | (whole ? 0 : kFaultCount);
  }
  const bool meets = bit == span.stop && phase == exit.phase && k == exit.k;
  return faults | (meets ? 0 : kFaultSync);
}

/// Whether the blocks before the interval and up to its end are as many as they should be (an
/// interval may have twice as many, the next one none). `before`: pack_counts() of chunks before.
__device__ inline bool has_right_blocks(const ScanArgs& a, const OwnSubsequence& own,
                                        std::uint32_t interval, std::uint64_t before) {
  const std::uint32_t block = blocks_of(before) + own.block;
  const std::uint32_t interval_end = min((interval + 1) * a.interval_blocks, a.blocks);
  return (!own.is_first || interval * a.interval_blocks == block) &&
         (!own.is_last || interval_end == block + own.blocks);
}

/// Decodes the subsequence to where its pairs belong. Returns faults.
__device__ inline std::uint32_t decode_directly(const ScanArgs& a, const SharedWords& bits,
                                                std::uint32_t origin, const SymbolTables& tables,
                                                const OwnSubsequence& own, std::uint64_t before) {
  const PairTarget target{blocks_of(before) + own.block, pairs_of(before) + own.pair};
  PairSink sink{kept(a.pairs), kept(a.wide), kept(a.block_pair), target.pair};
  return decode_own(bits, origin, tables, own, target, sink);
}

/// The state of a chunk is a sum of pack_counts(), without the two highest bits of its blocks: no
/// sound scan has so many.
__device__ inline void publish_counts(const ScanArgs& a, std::uint64_t own) {
  const std::uint64_t status = blockIdx.x == 0 ? kTileInclusive : kTileAggregate;
  store_relaxed(a.chunk_counts + blockIdx.x, status | (own & kTileSumMask));
}
/// Blocks and pairs before the chunk, which has `own`; waits until all chunks before have
/// published theirs. Called by one warp.
__device__ inline std::uint64_t count_before(const ScanArgs& a, std::uint64_t own) {
  if (blockIdx.x == 0) return 0;
  std::uint64_t before = 0;
  walk_back<4>(a.chunk_counts, blockIdx.x, [&](std::uint64_t state, bool counts) {
    if (counts) before += state & kTileSumMask;
    return false;
  });
  before = warp_sum(before);
  if (threadIdx.x == 0)
    store_relaxed(a.chunk_counts + blockIdx.x, kTileInclusive | ((before + own) & kTileSumMask));
  return before;
}

/// Whether the scan may have so many blocks and pairs up to the chunk's end; the last chunk knows
/// how many it has. Called by all threads.
__device__ inline bool fits_scan(const ScanArgs& a, std::uint64_t after) {
  const std::uint32_t blocks = blocks_of(after), pairs = pairs_of(after);
  if (blockIdx.x + 1 < a.plan.chunks) return blocks <= a.blocks && pairs <= a.pair_capacity;
  if (threadIdx.x == 0) a.block_pair[a.blocks] = pairs;
  const bool fits = blocks == a.blocks && pairs <= a.pair_capacity;
  if (fits && threadIdx.x + 1 < kPairsPerThread) a.pairs[pairs + threadIdx.x] = 0;
  return fits;
}

}  // namespace zerorun
