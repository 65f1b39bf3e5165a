// How a CTA of transform_blocks() takes the pairs of its blocks: its threads share them evenly, and
// each AC coefficient goes to its place in shared memory. A block is a run of pairs, and block
// run-length decode gives the block in which a thread's pairs begin. And DC prediction.
// SPDX-License-Identifier: MIT
#pragma once

#include <cub/block/block_run_length_decode.cuh>

#include <cstdint>

#include "codec/arith/dct8.hpp"
#include "cuda/base/kept.cuh"
#include "cuda/base/look_back.cuh"
#include "cuda/base/shared_access.cuh"
#include "cuda/decode/scan_kernels.hpp"

namespace zerorun {

// DC prediction (T.81 F.2.1.3.1): a segmented scan over all blocks of the scan, in which CTAs look
// back at those before them. One warp does it for its CTA.

/// The largest difference between DC values of baseline streams is 2047.
inline constexpr std::int32_t kMostDcDifference = 4095;

/// Sums of DC differences of three components, each 16 bits above the one before. A sum that is
/// negative borrows from the next one; but all DCs are checked to have 16 bits, so adding half of
/// what they can hold makes up for that.
using DcSum = std::uint64_t;
__device__ inline DcSum dc_sum(std::int32_t difference, std::uint32_t shift) {
  return static_cast<DcSum>(std::int64_t{difference}) << shift;
}
/// The sum of a component in the lowest 16 bits.
__device__ inline std::uint32_t component_of(DcSum sum, std::uint32_t shift) {
  const std::uint64_t borrowed = 0x80008000 & ((std::uint64_t{1} << shift) - 1);
  return static_cast<std::uint32_t>((sum + borrowed) >> shift);
}

/// The DC sums of two blocks, which follow each other, as far as the CTA knows them.
struct TwoDcSums {
  DcSum up_to_first, up_to_second;
  std::uint32_t first_shift, second_shift;  ///< of their components
  bool first_open, second_open;             ///< the interval began before the CTA
  bool goes_on;                             ///< so did that of the CTA's first block
};

/// For a CTA with two blocks for each lane of a warp; in shared memory. All threads put() their
/// block; behind a barrier one warp calls sum_up(), and later finish(); behind another barrier each
/// thread has its block's dc().
class DcPrediction {
 public:
  static constexpr int kBlocks = 2 * 32;

  /// `head`: an interval begins with the thread's block. `difference` has 16 bits.
  __device__ void put(std::int32_t difference, std::uint32_t component, bool head) {
    block_[threadIdx.x] = static_cast<std::uint32_t>(difference) << kDifferenceShift |
                          (head ? kHead : 0) | component * 16;
  }

  /// Sums within the CTA, and publishes what later CTAs need as early as possible: a sum that
  /// starts at an interval's beginning is inclusive, as no CTA needs to look further back.
  __device__ TwoDcSums sum_up(std::uint64_t* states) const {
    const std::uint32_t lane = threadIdx.x % 32;
    const uint2 two = *reinterpret_cast<const uint2*>(block_ + 2 * lane);
    const bool first_head = (two.x & kHead) != 0, second_head = (two.y & kHead) != 0;
    const std::uint32_t heads = __ballot_sync(kFullWarp, ((two.x | two.y) & kHead) != 0);
    const std::uint32_t heads_so_far = heads & (0xFFFFFFFFu >> (31 - lane));
    TwoDcSums sums;
    sums.first_shift = two.x & kShiftMask;
    sums.second_shift = two.y & kShiftMask;
    sums.first_open = (heads_so_far & ~(1u << lane)) == 0 && !first_head;
    sums.second_open = heads_so_far == 0;
    sums.goes_on = (__ballot_sync(kFullWarp, first_head) & 1) == 0;
    sums.up_to_first = dc_sum(difference_of(two.x), sums.first_shift);
    sums.up_to_second = dc_sum(difference_of(two.y), sums.second_shift);
    if (!second_head) sums.up_to_second += sums.up_to_first;
    // The last lane so far whose blocks have a head, or the first lane.
    const std::uint32_t lanes = lane - (31 - __clz(static_cast<int>(heads_so_far | 1)));
#pragma unroll
    for (std::uint32_t distance = 1; distance < 32; distance *= 2) {
      const DcSum before = __shfl_up_sync(kFullWarp, sums.up_to_second, distance);
      if (distance <= lanes) sums.up_to_second += before;
    }
    const DcSum before = __shfl_up_sync(kFullWarp, sums.up_to_second, 1);
    if (lane > 0 && !first_head) sums.up_to_first += before;
    if (lane == 31)
      store_relaxed(states + blockIdx.x, (heads != 0 ? kTileInclusive : kTileAggregate) |
                                             (sums.up_to_second & kTileSumMask));
    return sums;
  }

  /// Adds the sum before the CTA.
  __device__ void finish(std::uint64_t* states, TwoDcSums sums) {
    const std::uint32_t lane = threadIdx.x % 32;
    if (sums.goes_on) {
      const DcSum before = look_back(states);
      if (sums.first_open) sums.up_to_first += before;
      if (sums.second_open) sums.up_to_second += before;
      if (lane == 31 && sums.second_open)  // no interval begins in the CTA
        store_relaxed(states + blockIdx.x, kTileInclusive | (sums.up_to_second & kTileSumMask));
    }
    *reinterpret_cast<uint2*>(block_ + 2 * lane) =
        uint2{component_of(sums.up_to_first, sums.first_shift),
              component_of(sums.up_to_second, sums.second_shift)};
  }

  /// The lowest 16 bits of the DC of the thread's block.
  __device__ std::int16_t dc() const { return static_cast<std::int16_t>(block_[threadIdx.x]); }

 private:
  static constexpr int kDifferenceShift = 16;
  static constexpr std::uint32_t kShiftMask = 63, kHead = 64;

  __device__ static std::int32_t difference_of(std::uint32_t block) {
    return static_cast<std::int32_t>(block) >> kDifferenceShift;
  }

  /// The sums of the open interval at the end of the CTA before; called by one warp.
  __device__ static DcSum look_back(const std::uint64_t* states) {
    DcSum own = 0;
    walk_back<4>(states, blockIdx.x, [&](std::uint64_t state, bool counts) {
      if (counts) own += state;
      return false;
    });
    const auto part = [own](int shift, std::uint32_t mask) {
      return std::uint64_t{warp_add(static_cast<std::uint32_t>(own >> shift) & mask)} << shift;
    };
    return part(0, 0xFFFF) + part(16, 0xFFFF) + part(32, 0xFFFFFFFF);
  }

  alignas(8) std::uint32_t block_[kBlocks];  ///< what is put() of each, and then its DC
};

}  // namespace zerorun

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
  alignas(16) std::uint32_t step[kMaxComponents * kBlockSize];  ///< as in ScanSteps
  typename PairDecode::TempStorage runs;
  std::uint32_t first_pair[kThreads + 1];
  DcPrediction dc;
};

/// The level of pair `number`.
__device__ inline std::int32_t whole_level(const ScanArgs& a, std::uint16_t pair,
                                           std::uint32_t number) {
  const std::int32_t level = level_of(pair);
  if (level != kWideLevel) return level;
  asm volatile(""
               : "+r"(number));  // or the address of the pair would be found by more instructions
  return a.wide[number];
}

/// The block that a thread's next pair belongs to.
struct PairBlock {
  SharedAddress at;     ///< of its coefficients
  SharedAddress steps;  ///< of its component
};

// Pairs are passed and stored by one statement of assembly, so that the predicate of a pair lives
// from its loads to its store: the compiler compares an index with 0 for each.
//   %0  the address of the block that a pair belongs to. A DC, index 0, goes on to the next one,
//   but
//       not behind %2: where a fault is yet to be found, more blocks may seem to begin than there
//       are
//   %1  the address of the steps of the block's component
//   before  the address of the block of the pair before
// The step of an AC pair gives its place in the block and its quantiser.
#define ZR_PASS_PAIR(n, before, word, mask, index_to_bytes)                                  \
  ".reg .pred is_ac" #n "; .reg .u32 at" #n ", step" #n "; and.b32 index, " word ", " mask   \
  "; "                                                                                       \
  "setp.ne.u32 is_ac" #n ", index, 0; add.u32 next, " before                                 \
  ", 16; min.u32 next, next, %2; "                                                           \
  "selp.u32 at" #n ", " before ", next, is_ac" #n "; @!is_ac" #n " ld.shared.u16 %1, [at" #n \
  "]; " index_to_bytes "; add.u32 next, next, %1; @is_ac" #n " ld.shared.u32 step" #n ", [next]; "
#define ZR_PASS_LOWER(n, before, word) \
  ZR_PASS_PAIR(n, before, word, "0x3F", "shl.b32 next, index, 2")
#define ZR_PASS_UPPER(n, before, word) \
  ZR_PASS_PAIR(n, before, word, "0x3F0000", "shr.u32 next, index, 14")
#define ZR_STORE_PAIR(n, level)                                                               \
  "shr.u32 next, step" #n ", 16; add.u32 next, next, at" #n "; mul.lo.u32 step" #n ", " level \
  ", step" #n "; @is_ac" #n " st.shared.u16 [next], step" #n "; "

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
    static_assert(kBlockStride == 16 && kPairIndexMask == 0x3F);
    // In two statements, because there are seven predicates.
    asm volatile(
        "{ .reg .u32 index, next; " ZR_PASS_LOWER(0, "%0", "%3") ZR_PASS_UPPER(1, "at0", "%3")
            ZR_PASS_LOWER(2, "at1", "%4") ZR_PASS_UPPER(3, "at2", "%4")
                ZR_PASS_LOWER(4, "at3", "%5") ZR_PASS_UPPER(5, "at4", "%5") ZR_STORE_PAIR(0, "%6")
                    ZR_STORE_PAIR(1, "%7") ZR_STORE_PAIR(2, "%8") ZR_STORE_PAIR(3, "%9")
                        ZR_STORE_PAIR(4, "%10") ZR_STORE_PAIR(5, "%11") "mov.u32 %0, at5; }"
        : "+r"(block.at), "+r"(block.steps)
        : "r"(last), "r"(two[0]), "r"(two[1]), "r"(two[2]), "r"(level(0)), "r"(level(1)),
          "r"(level(2)), "r"(level(3)), "r"(level(4)), "r"(level(5)));
    asm volatile("{ .reg .u32 index, next; " ZR_PASS_LOWER(6, "%0", "%3")
                     ZR_PASS_UPPER(7, "at6", "%3") ZR_STORE_PAIR(6, "%4")
                         ZR_STORE_PAIR(7, "%5") "mov.u32 %0, at7; }"
                 : "+r"(block.at), "+r"(block.steps)
                 : "r"(last), "r"(two[3]), "r"(level(6)), "r"(level(7)));
  }

 private:
  /// Ones where word `i` has bits from `number` on, of all words together.
  __device__ static std::uint32_t ones_from(std::uint32_t number, int i) {
    return __funnelshift_lc(0, 0xFFFFFFFF, max(static_cast<std::int32_t>(number) - i * 32, 0));
  }
  __device__ std::uint32_t level(std::uint32_t i) const {
    return shift_right_signed(i % 2 == 0 ? two[i / 2] << 16 : two[i / 2], 16 + kPairLevelShift);
  }
};

/// The same with the pairs from `own` to `end` one by one, of which some level is wide or may give
/// too large a value. Pairs up to `first` become DCs. Returns the largest value.
__device__ inline std::int32_t dequantise_with_care(const ScanArgs& a, std::uint32_t first,
                                                    std::uint32_t own, std::uint32_t end,
                                                    SharedAddress last, PairBlock& block) {
  std::int32_t most = 0;
#pragma unroll 1
  for (; own < end; ++own) {
    const std::uint16_t pair = own > first ? a.pairs[own] : 0;
    const std::uint32_t index = pair & kPairIndexMask;
    if (index == 0) {
      block.at = min(block.at + kBlockStride, last);
      block.steps = load_half(block.at, 0);
      continue;
    }
    const std::uint32_t step = load_word(block.steps, index);
    const std::int32_t value = whole_level(a, pair, own) * quantiser_of(step);
    most = max(most, abs(value));
    store_half(block.at + place_of(step), static_cast<std::uint16_t>(value));
  }
  return most;
}

/// Numbers of pairs.
struct PairSpan {
  std::uint32_t begin, end;
};

/// The thread's share of the pairs from 0 to `end`, or one that begins behind them: pairs that
/// follow each other, so that it asks once where they belong. Warps need as many rounds of eight
/// pairs a thread as if they took turns; the first has one more if their sum is odd.
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
__device__ inline std::int32_t dequantise_span(const ScanArgs& a, std::uint32_t first,
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
__device__ inline bool expand_pairs(const ScanArgs& a, Shared& s, std::uint32_t first_pair) {
  // Pairs count from the last multiple of eight before the CTA's first: eight are read at once.
  const std::uint32_t first = s.first_pair[0], lead = first % kPairsPerThread;
  const std::uint32_t origin = first - lead;
  // The block before a thread's first pair is asked for: each DC leads to the next block.
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

#undef ZR_PASS_PAIR
#undef ZR_PASS_LOWER
#undef ZR_PASS_UPPER
#undef ZR_STORE_PAIR

}  // namespace zerorun::pair_expansion
