// How a CTA of transform_blocks() takes the pairs of its blocks: its threads share them evenly, and
// each AC coefficient goes to its place in shared memory. A block is a run of pairs, and block
// run-length decode tells which block a thread's pairs begin in.
// SPDX-License-Identifier: MIT
#pragma once

#include <cub/block/block_run_length_decode.cuh>

#include "codec/arith/dct8.hpp"
#include "cuda/base/kept.cuh"
#include "cuda/base/shared_access.cuh"
#include "cuda/decode/predict_dc.cuh"
#include "cuda/decode/transform_blocks.hpp"

namespace zerorun::pair_expansion {

inline constexpr int kThreads = kTransformBlocks;
inline constexpr int kWarps = kThreads / 32;
static_assert(kPairsPerThread * sizeof(std::uint16_t) == sizeof(uint4));

/// One item a thread: the address of the block that the thread's first pair belongs to. It has 16
/// bits, as have all addresses in the static shared memory of a CTA without a cluster.
using PairDecode = cub::BlockRunLengthDecode<std::uint16_t, kThreads, 1, 1>;

/// The same row of all blocks is together, so that threads reading it use all banks of shared
/// memory.
inline constexpr std::uint32_t kBlockStride = kBlockEdge * sizeof(std::int16_t);
static_assert(kCoefficientRowBytes == kThreads * kBlockStride);

static_assert(kThreads == DcPrediction::kBlocks);

struct Shared {
  /// As if there were more blocks before the first.
  alignas(16) std::int16_t before[kPairsPerThread][kBlockEdge];
  /// Row, block, column. In place of a block's DC, which is not kept here: the address of the steps
  /// of its component.
  std::int16_t coefficient[kBlockEdge][kThreads][kBlockEdge];
  std::uint32_t step[kMaxComponents * kBlockSize];  ///< as in ScanSteps
  typename PairDecode::TempStorage runs;
  std::uint32_t first_pair[kThreads + 1];
  DcPrediction dc;
};

/// The level of pair `number`.
__device__ inline std::int32_t whole_level(const TransformBlocksArgs& a, std::uint16_t pair,
                                           std::uint32_t number) {
  const std::int32_t level = level_of(pair);
  return level == kWideLevel ? a.wide[number] : level;
}

/// The block that a thread's next pair belongs to.
struct PairBlock {
  SharedAddress at;     ///< of its coefficients
  SharedAddress steps;  ///< of its component
};

/// Passes a pair of an index. With a DC, index 0, a block begins, but none does behind `last`:
/// where a fault is yet to be found, more blocks may seem to begin than there are. Returns the step
/// of an AC coefficient, which is at `scaled` bytes from those of the component.
__device__ inline std::uint32_t pass_pair(std::uint32_t index, std::uint32_t scaled,
                                          SharedAddress last, PairBlock& block) {
  std::uint32_t step;
  asm volatile(
      "{\n\t"
      ".reg .pred is_ac;\n\t"
      ".reg .u32 next;\n\t"
      "setp.ne.u32 is_ac, %3, 0;\n\t"
      "add.u32 next, %1, %6;\n\t"
      "min.u32 next, next, %5;\n\t"
      "selp.u32 %1, %1, next, is_ac;\n\t"
      "@!is_ac ld.shared.u16 %2, [%1];\n\t"
      "add.u32 next, %4, %2;\n\t"
      "@is_ac ld.shared.u32 %0, [next];\n\t"
      "}"
      : "=r"(step), "+r"(block.at), "+r"(block.steps)
      : "r"(index), "r"(scaled), "r"(last), "n"(kBlockStride));
  return step;
}

/// Not before a mask, as the compiler has it; so that the assembler can multiply and add at once.
__device__ inline std::uint32_t times_four(std::uint32_t value) {
  std::uint32_t product = 0;
#ifdef __CUDA_ARCH__
  asm("shl.b32 %0, %1, 2;" : "=r"(product) : "r"(value));
#endif
  return product;
}

/// Stores the lower half of `value` for an index other than 0.
__device__ inline void store_ac(std::uint32_t index, SharedAddress at, std::uint32_t value) {
  asm volatile(
      "{\n\t"
      ".reg .pred is_ac;\n\t"
      "setp.ne.u32 is_ac, %0, 0;\n\t"
      "@is_ac st.shared.u16 [%1], %2;\n\t"
      "}" ::"r"(index),
      "r"(at), "h"(static_cast<std::uint16_t>(value)));
}

/// Eight pairs as they are read at once: two a word.
struct PairVector {
  std::uint32_t two[kPairsPerThread / 2];

  __device__ explicit PairVector(const std::uint16_t* pairs) {
    const uint4 eight = *reinterpret_cast<const uint4*>(pairs);
    two[0] = eight.x, two[1] = eight.y, two[2] = eight.z, two[3] = eight.w;
  }
  /// Makes the first `count` pairs DCs, and the one behind them.
  __device__ void make_dcs(std::uint32_t count) {
    constexpr std::uint32_t kIndexBits = kPairLevelShift;
#pragma unroll
    for (int i = 0; i < 4; ++i) two[i] &= ones_from(count * 16 + kIndexBits, i);
  }
  /// Makes all pairs but the first `count` 0.
  __device__ void clear_behind(std::uint32_t count) {
#pragma unroll
    for (int i = 0; i < 4; ++i) two[i] &= ~ones_from(count * 16, i);
  }
  /// Whether all pairs are between two, of which each word has one twice.
  __device__ bool within(std::uint32_t lowest, std::uint32_t highest) const {
    const std::uint32_t low = __vimin3_s16x2(two[0], two[1], two[2]);
    const std::uint32_t high = __vimax3_s16x2(two[0], two[1], two[2]);
    return ((__vimin3_s16x2(low, two[3], lowest) ^ lowest) |
            (__vimax3_s16x2(high, two[3], highest) ^ highest)) == 0;
  }
  /// Dequantises the AC pairs, without those whose levels they have no room for. A block begins
  /// with each pair of index 0, its DC.
  __device__ void dequantise(PairBlock& block, SharedAddress last) const {
    SharedAddress at[kPairsPerThread];
    std::uint32_t step[kPairsPerThread];
#pragma unroll
    for (std::uint32_t i = 0; i < kPairsPerThread; ++i) {
      step[i] = pass_pair(index(i), scaled_index(i), last, block);
      at[i] = block.at;
    }
#pragma unroll
    for (std::uint32_t i = 0; i < kPairsPerThread; ++i)
      store_ac(index(i), at[i] + place_of(step[i]), level(i) * step[i]);
  }

 private:
  /// Ones where word `i` has bits from `number` on, of all words together.
  __device__ static std::uint32_t ones_from(std::uint32_t number, int i) {
    return __funnelshift_lc(0, 0xFFFFFFFF, max(static_cast<std::int32_t>(number) - i * 32, 0));
  }
  __device__ std::uint32_t index(std::uint32_t i) const {
    return two[i / 2] & kPairIndexMask << i % 2 * 16;
  }
  __device__ std::uint32_t scaled_index(std::uint32_t i) const {
    return i % 2 == 0 ? times_four(index(i)) : index(i) >> 14;
  }
  __device__ std::uint32_t level(std::uint32_t i) const {
    return shift_right_signed(i % 2 == 0 ? two[i / 2] << 16 : two[i / 2], 16 + kPairLevelShift);
  }
};

/// The same with the pairs from `own` to `end` one by one, of which some has a level that it has no
/// room for, or that may give too large a value. Pairs up to `first` become DCs. Returns the
/// largest value.
__device__ inline std::int32_t dequantise_with_care(const TransformBlocksArgs& a,
                                                    std::uint32_t first, std::uint32_t own,
                                                    std::uint32_t end, SharedAddress last,
                                                    PairBlock& block) {
  std::int32_t most = 0;
#pragma unroll 1
  for (; own < end; ++own) {
    const std::uint16_t pair = own > first ? a.pairs[own] : 0;
    const std::uint32_t index = pair & kPairIndexMask;
    const std::uint32_t step =
        pass_pair(index, index * std::uint32_t{sizeof(std::uint32_t)}, last, block);
    if (index == 0) continue;
    const std::int32_t value = whole_level(a, pair, own) * quantiser_of(step);
    most = max(most, abs(value));
    store_ac(index, block.at + place_of(step), static_cast<std::uint32_t>(value));
  }
  return most;
}

/// Numbers of pairs.
struct PairSpan {
  std::uint32_t begin, end;
};

/// The thread's share of the pairs from 0 to `end`, or one that begins behind them. A thread takes
/// pairs that follow each other, so that it asks once where they belong. Warps need as many rounds
/// of eight pairs a thread as if they took turns; the first has one more if their sum is odd.
__device__ inline PairSpan share_of_thread(std::uint32_t end) {
  constexpr std::uint32_t kRoundPairs = 32 * kPairsPerThread;
  static_assert(kWarps == 2);
  const std::uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const std::uint32_t rounds = (end + kRoundPairs - 1) / kRoundPairs, first = (rounds + 1) / 2;
  const std::uint32_t pairs = (warp == 0 ? first : rounds - first) * kPairsPerThread;
  const std::uint32_t begin = warp * first * kRoundPairs + lane * pairs;
  return {begin, min(begin + pairs, end)};
}

/// Dequantises the thread's pairs, of which it has the first `eight`. Pairs up to `first` become
/// DCs. Returns a value that is too large if there is any.
__device__ inline std::int32_t dequantise_span(const TransformBlocksArgs& a, std::uint32_t first,
                                               const PairSpan& own, PairVector eight,
                                               PairBlock block, SharedAddress last) {
  const std::uint32_t lowest = a.steps->lowest_usual, highest = a.steps->highest_usual;
  const std::uint16_t* pairs = a.pairs + own.begin;
  std::uint32_t left = own.end - own.begin;
  std::int32_t most = 0;
  while (true) {
    if (left < kPairsPerThread) eight.clear_behind(left);
    if (eight.within(lowest, highest)) {
      eight.dequantise(block, last);
    } else {
      const std::uint32_t number = own.end - left;
      const std::uint32_t end_of_eight = number + min(left, kPairsPerThread);
      most = max(most, dequantise_with_care(a, first, number, end_of_eight, last, block));
    }
    if (left <= kPairsPerThread) return most;
    left -= kPairsPerThread;
    pairs += kPairsPerThread;
    eight = PairVector(pairs);
  }
}

/// Dequantises the CTA's AC pairs into s.coefficient. Returns false for a value that no encoder
/// makes.
__device__ inline bool expand_pairs(const TransformBlocksArgs& a, Shared& s,
                                    std::uint32_t first_pair) {
  // Pairs count from the last multiple of eight before the CTA's first, because eight are read at
  // once.
  const std::uint32_t first = s.first_pair[0], lead = first % kPairsPerThread;
  const std::uint32_t origin = first - lead;
  // The block before a thread's first pair is asked for, because each pair that is a DC leads to
  // the next block.
  std::uint16_t run[1] = {
      static_cast<std::uint16_t>(shared_address(s.coefficient[0][threadIdx.x]))};
  std::uint32_t begins[1] = {threadIdx.x == 0 ? 0 : first_pair - origin + 1};
  PairDecode decoder(s.runs, run, begins);
  const std::uint32_t end = s.first_pair[kThreads] - origin;
  const PairSpan own = share_of_thread(end);
  if (own.begin >= end) return true;
  const PairSpan in_scan{origin + own.begin, origin + own.end};
  PairVector eight(a.pairs + in_scan.begin);
  std::uint16_t of_block[1];
  decoder.RunLengthDecode(of_block, own.begin - threadIdx.x);  // it adds the thread's number
  PairBlock block{of_block[0], 0};
  if (threadIdx.x == 0) {
    // Pairs of the block before the CTA's first become DCs of blocks before it.
    eight.make_dcs(lead);
    block.at -= (lead + 1) * kBlockStride;
  }
  block.steps = load_half(block.at, 0);
  const SharedAddress last = kept(shared_address(s.coefficient[0][kThreads - 1]));
  return dequantise_span(a, first, in_scan, eight, block, last) <= kMaxNarrowCoefficient;
}

}  // namespace zerorun::pair_expansion
