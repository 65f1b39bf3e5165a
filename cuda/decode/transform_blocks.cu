// Each thread transforms a block: a segmented scan gives its DC, its AC coefficients come from
// pairs that the CTA expands together, and the inverse transform runs in registers.
// SPDX-License-Identifier: MIT
#include "cuda/decode/scan_kernels.hpp"

#include <cub/block/block_run_length_decode.cuh>

#include "codec/arith/dct8.hpp"
#include "codec/arith/reduced_idct.hpp"
#include "cuda/base/check.hpp"
#include "cuda/base/device_limits.hpp"
#include "cuda/base/kernel_numbers.hpp"
#include "cuda/base/launch.hpp"
#include "cuda/base/look_back.cuh"
#include "cuda/base/shared_access.cuh"

namespace zerorun {
namespace {

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

  alignas(8) std::uint32_t block_[kBlocks];  ///< what put() stored of each, later its DC
};

// Pairs to AC coefficients. The CTA's threads share the pairs evenly, and each coefficient goes to
// its place in shared memory. A block is a run of pairs, and block run-length decode gives the
// block in which a thread's pairs begin.

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
  return level != kWideLevel ? level : a.wide[number];
}

/// The block that a thread's next pair belongs to.
struct PairBlock {
  SharedAddress at;     ///< of its coefficients
  SharedAddress steps;  ///< of its component
};

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
  /// with each pair of index 0, its DC; but not behind `last`: where a fault is yet to be found,
  /// more blocks may seem to begin than there are.
  __device__ void dequantise(PairBlock& block, SharedAddress last) const {
#pragma unroll
    for (std::uint32_t i = 0; i < kPairsPerThread; ++i) {
      const std::uint32_t index = two[i / 2] >> i % 2 * 16 & kPairIndexMask;
      if (index == 0) {
        block.at = min(block.at + kBlockStride, last);
        block.steps = load_half(block.at, 0);
      } else {
        const std::uint32_t step = load_word(block.steps, index);
        store_half(block.at + place_of(step), static_cast<std::uint16_t>(level(i) * step));
      }
    }
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

// The inverse transform.

__device__ bool is_usual(std::int32_t value, std::int32_t most) {
  return value <= most && value >= -most;
}

/// The coefficients of the thread's block, in natural order.
__device__ void load_block(const Shared& s, std::int32_t dc, std::uint32_t (&out)[kBlockSize]) {
#pragma unroll
  for (std::uint32_t y = 0; y < kBlockEdge; ++y) {
    const uint4 row = *reinterpret_cast<const uint4*>(s.coefficient[y][threadIdx.x]);
    const std::uint32_t two[] = {row.x, row.y, row.z, row.w};
#pragma unroll
    for (std::uint32_t x = 0; x < kBlockEdge; ++x)
      out[y * kBlockEdge + x] = shift_right_signed(x % 2 == 0 ? two[x / 2] << 16 : two[x / 2], 16);
  }
  out[0] = static_cast<std::uint32_t>(dc);
}

/// Results of the inverse transform have this many bits of fraction: limit_sample() needs the other
/// ten alone.
constexpr int kLimitShift = 32 - 10;

__device__ void inverse_transform(std::uint32_t (&c)[kBlockSize]) {
#pragma unroll
  for (int x = 0; x < kBlockEdge; ++x) {
    std::uint32_t v[kBlockEdge];
#pragma unroll
    for (int y = 0; y < kBlockEdge; ++y) v[y] = c[y * kBlockEdge + x];
    idct8_by_products<1>(v);
#pragma unroll
    for (int y = 0; y < kBlockEdge; ++y)
      c[y * kBlockEdge + x] = shift_right_signed(v[y], kIdctShift<1>);
  }
#pragma unroll
  for (int y = 0; y < kBlockEdge; ++y) {
    std::uint32_t v[kBlockEdge];
#pragma unroll
    for (int x = 0; x < kBlockEdge; ++x) v[x] = c[y * kBlockEdge + x];
    idct8_by_products<2, kLimitShift - kIdctShift<2>>(v);
#pragma unroll
    for (int x = 0; x < kBlockEdge; ++x) c[y * kBlockEdge + x] = v[x];
  }
}

/// Two bytes: the values limited to 0 to 255; the low half of `behind` comes above them.
__device__ std::uint32_t pack_limited(std::int32_t second, std::int32_t first,
                                      std::uint32_t behind) {
  std::uint32_t packed = 0;
#ifdef __CUDA_ARCH__
  asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;"
      : "=r"(packed)
      : "r"(second), "r"(first), "r"(behind));
#endif
  return packed;
}

/// limit_sample() of four results of the inverse transform, as bytes. Its ten bits are the highest
/// of each, so that one instruction extends the sign and adds 128; the next one limits two samples.
__device__ std::uint32_t limit_four(const std::uint32_t* values) {
  const auto sample = [&](int i) {
    return (static_cast<std::int32_t>(values[i]) >> kLimitShift) + 128;
  };
  const std::uint32_t upper = pack_limited(sample(3), sample(2), 0);
  return pack_limited(sample(1), sample(0), upper);
}

/// Stores the valid samples.
__device__ void store_block(const PlaneView& plane, int x0, int y0,
                            const std::uint32_t (&samples)[kBlockSize]) {
  std::uint8_t* out = plane.data + y0 * plane.stride_bytes + x0;
  const bool whole = x0 + kBlockEdge <= plane.width && y0 + kBlockEdge <= plane.height;
  const bool aligned = plane.stride_bytes % kBlockEdge == 0 &&
                       reinterpret_cast<std::uintptr_t>(out) % kBlockEdge == 0;
  uint2 row[kBlockEdge];
#pragma unroll
  for (int y = 0; y < kBlockEdge; ++y)
    row[y] = {limit_four(samples + y * kBlockEdge), limit_four(samples + y * kBlockEdge + 4)};
  if (whole && aligned) {
#pragma unroll
    for (int y = 0; y < kBlockEdge; ++y, out += plane.stride_bytes)
      *reinterpret_cast<uint2*>(out) = row[y];
    return;
  }
#pragma unroll
  for (int y = 0; y < kBlockEdge; ++y, out += plane.stride_bytes) {
    const int columns = y0 + y < plane.height ? plane.width - x0 : 0;
#pragma unroll
    for (int x = 0; x < kBlockEdge; ++x)
      if (x < columns)
        out[x] = static_cast<std::uint8_t>((x < 4 ? row[y].x : row[y].y) >> x % 4 * 8);
  }
}

/// Block (x, y) of a plane at 1/2, 1/4 or 1/8. Sums of 64 bits are exact for all coefficients.
__device__ void reduce_and_store(const Shared& s, std::int32_t dc, const PlaneView& plane, int x,
                                 int y) {
  const int edge = reduced_edge(plane.shrink), x0 = x * edge, y0 = y * edge;
  std::uint8_t* const out = plane.data + y0 * plane.stride_bytes + x0;
  reduce_block<std::uint64_t>(
      plane.shrink,
      [&](int v, int u) {
        return v == 0 && u == 0 ? dc : std::int32_t{s.coefficient[v][threadIdx.x][u]};
      },
      [&](int j, int i, std::uint8_t sample) {
        if (y0 + j < plane.height && x0 + i < plane.width) out[j * plane.stride_bytes + i] = sample;
      });
}

/// Waits until the pairs of the blocks from `first` on can be read, and it is known where block
/// `behind` begins or that there is none. Called by one warp. Terminates where all CTAs of the
/// kernel before run or are done.
__device__ void await_pairs(const ScanArgs& a, std::uint32_t first, std::uint32_t behind) {
  // Chunks that end before the first block, by a sample of them.
  const std::uint32_t step = (a.plan.chunks + 31) / 32;
  const std::uint32_t behind_sample = (threadIdx.x % 32 + 1) * step;
  const std::uint64_t sample =
      behind_sample <= a.plan.chunks ? load_relaxed(a.chunk_counts + behind_sample - 1) : 0;
  const unsigned before = __ballot_sync(
      kFullWarp, tile_status(sample) >= 2 && blocks_of(sample & kTileSumMask) < first);
  const std::uint32_t from = (32 - __clz(static_cast<int>(before))) * step;
  await_readable(a.chunk_counts, a.plan.chunks, kTileReadable | kTileSumMask, from,
                 [=](std::uint64_t state) { return blocks_of(state & kTileSumMask) > behind; });
}

/// Called by one thread, when all kernels before have ended.
__device__ void report_scan(const ScanArgs& a) {
  const std::uint32_t faults = faults_of(*a.summary);
  a.summary->outcome = faults;
  a.report->faults = faults;
}

static_assert(bounded_ctas(kTransformCtas, kThreads, sizeof(Shared), 90) == kTransformCtas,
              "as measured on Hopper");

/// `has_fault`: not all pairs are there. `kPart`: a plane does not hold all blocks of its
/// component, or has smaller ones.
template <bool kFollows, bool kPart>
__device__ void transform_cta(const ScanArgs& a, Shared& s, bool has_fault) {
  // CTAs that began before a fault was found may wait for this one.
  const auto give_up = [&] {
    if (kFollows && threadIdx.x == 0)
      store_relaxed(a.transform_states + blockIdx.x, kTileInclusive);
  };
  if (has_fault) return give_up();
  const std::uint32_t first_block = blockIdx.x * kTransformBlocks;
  const std::uint32_t block = first_block + threadIdx.x;
  const std::uint32_t dc_pair = a.block_pair[min(block, a.blocks)];
  s.first_pair[threadIdx.x] = dc_pair;
  if (threadIdx.x == 0)
    s.first_pair[kThreads] = a.block_pair[min(first_block + kTransformBlocks, a.blocks)];
  const std::uint32_t mcu = a.by_mcu_blocks.quotient(block);
  const std::uint32_t index = block - mcu * a.by_mcu_blocks.value;
  const std::uint32_t component = a.layout.block_component[index];
  constexpr unsigned kStepVectors = sizeof(s.step) / sizeof(uint4);
  static_assert(kStepVectors <= kThreads);
  if (threadIdx.x < kStepVectors)
    reinterpret_cast<uint4*>(s.step)[threadIdx.x] =
        reinterpret_cast<const uint4*>(a.steps->step)[threadIdx.x];
  const SharedAddress steps = shared_address(s.step + component * kBlockSize);
#pragma unroll
  for (std::uint32_t y = 0; y < kBlockEdge; ++y)
    *reinterpret_cast<uint4*>(s.coefficient[y][threadIdx.x]) = uint4{y == 0 ? steps : 0};
  if (threadIdx.x < kPairsPerThread) s.before[threadIdx.x][0] = static_cast<std::int16_t>(steps);
  if constexpr (kFollows) {
    __syncthreads();
    // Where a fault is yet to be found, chunks may write over each other's pairs.
    const std::uint32_t begin = s.first_pair[threadIdx.x], end = s.first_pair[threadIdx.x + 1];
    const bool possible = begin <= end && end - begin <= kBlockSize && end <= a.pair_capacity;
    if (!__syncthreads_and(possible)) {
      a.report->dc_fault = 1;
      return give_up();
    }
  }
  // A block that does not exist, behind all others, has the DC of one that does.
  const std::int32_t difference = block < a.blocks ? whole_level(a, a.pairs[dc_pair], dc_pair) : 0;
  s.dc.put(difference, component,
           block == a.by_interval_blocks.quotient(block) * a.by_interval_blocks.value);
  __syncthreads();

  // The last warp has no more pairs than the others.
  const bool predicts = threadIdx.x >= kThreads - 32;
  TwoDcSums sums;
  if (predicts) sums = s.dc.sum_up(a.transform_states);
  bool usual = expand_pairs(a, s, dc_pair);
  if (predicts) s.dc.finish(a.transform_states, sums);
  __syncthreads();  // s.coefficient is complete too
  const std::int32_t dc = s.dc.dc(), dc_before = dc - difference;
  const std::int32_t dc_value = dc * quantiser_of(s.step[component * kBlockSize]);
  // The first DC of an interval that 16 bits cannot hold does not seem to follow one that they can.
  usual &= is_usual(difference, kMostDcDifference) &&
           dc_before == static_cast<std::int16_t>(dc_before) &&
           is_usual(dc_value, kMaxNarrowCoefficient);
  if (!usual) a.report->dc_fault = 1;

  const ScanLayout::Component& shape = a.layout.component[component];
  const auto mcu_y = static_cast<std::int32_t>(a.by_mcus_wide.quotient(mcu));
  const auto mcu_x = static_cast<std::int32_t>(mcu) - mcu_y * a.layout.mcus_wide;
  std::int32_t x = mcu_x * shape.h + a.layout.block_x[index];
  std::int32_t y = mcu_y * shape.v + a.layout.block_y[index];
  // A block that does not exist is below all that do, and a component without a plane has none.
  if (x >= shape.blocks_wide || y >= shape.blocks_high) return;
  if constexpr (kPart) {
    const PlaneView& plane = a.plane[component];
    const int edge = reduced_edge(plane.shrink);
    x -= plane.block_x;
    y -= plane.block_y;
    if (x < 0 || y < 0 || x * edge >= plane.width || y * edge >= plane.height) return;
    if (plane.shrink != 0) return reduce_and_store(s, dc_value, plane, x, y);
  }
  // Kept in one register, because the transform needs all others: coordinates have 13 bits. It is
  // made to depend on a result, or the address would be found before; threadIdx.y is 0.
  std::uint32_t position =
      component << 30 | static_cast<std::uint32_t>(y) << 15 | static_cast<std::uint32_t>(x);
  std::uint32_t c[kBlockSize];
  load_block(s, dc_value, c);
  inverse_transform(c);
  position += c[kBlockSize - 1] & threadIdx.y;
  const auto coordinate = [&](int shift) {
    return static_cast<std::int32_t>(position >> shift & 0x7FFF) * kBlockEdge;
  };
  store_block(a.plane[position >> 30], coordinate(0), coordinate(15), c);
}

template <bool kPart>
__global__ void __launch_bounds__(kThreads, bounded_ctas(kTransformCtas, kThreads, sizeof(Shared)))
    transform_blocks_kernel(const __grid_constant__ ScanArgs a) {
  __shared__ Shared s;
  wait_for_previous_kernel();
  // When it does, all CTAs of this one have begun. RGB of 3840x2160, one of eight, takes 80.8 us so
  // and 81.7 otherwise (H200).
  let_next_kernel_begin();
  if (blockIdx.x == 0 && threadIdx.x == 0) report_scan(a);
  transform_cta<false, kPart>(a, s, faults_of(*a.summary) != 0);
}

/// The same beside the kernel before, whose chunks it follows.
template <bool kPart>
__global__ void __launch_bounds__(kThreads, bounded_ctas(kTransformCtas, kThreads, sizeof(Shared)))
    transform_followed_kernel(const __grid_constant__ ScanArgs a) {
  __shared__ Shared s;
  let_next_kernel_begin();
  const std::uint32_t first_block = blockIdx.x * kTransformBlocks;
  if (threadIdx.x < 32) await_pairs(a, first_block, min(first_block + kTransformBlocks, a.blocks));
  __syncthreads();
  // Other CTAs may just be finding more faults, so threads may see different ones.
  transform_cta<true, kPart>(a, s, __syncthreads_or(faults_of(*a.summary) != 0));
  if (blockIdx.x + 1 < gridDim.x) return;
  // The kernel behind this one waits for this one alone.
  wait_for_previous_kernel();
  if (threadIdx.x == 0) report_scan(a);
}

}  // namespace

Status transform_blocks(const ScanArgs& args, cudaStream_t stream) {
  const unsigned grid = grid_size(args.blocks, kTransformBlocks);
  bool is_part = false;
  for (int c = 0; c < args.layout.components; ++c) {
    const PlaneView& plane = args.plane[c];
    const ScanLayout::Component& whole = args.layout.component[c];
    is_part |= plane.shrink != 0 || plane.width < whole.width || plane.height < whole.height;
  }
  const auto kernel =
      is_part
          ? (args.follows_bus ? transform_followed_kernel<true> : transform_blocks_kernel<true>)
          : (args.follows_bus ? transform_followed_kernel<false> : transform_blocks_kernel<false>);
  return ZR_CUDA_STATUS(launch_behind(kernel, LaunchShape{grid, kThreads}, stream, args));
}

}  // namespace zerorun
