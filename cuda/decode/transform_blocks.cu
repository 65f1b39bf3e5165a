// Each thread transforms a block: a segmented scan over all blocks gives its DC, and both passes of
// the inverse transform run in registers. The CTA's threads share the pairs evenly: a block is a
// run of pairs, and block run-length decode tells which block a thread's pairs begin in.
// SPDX-License-Identifier: MIT
#include "cuda/decode/transform_blocks.hpp"

#include <cub/block/block_run_length_decode.cuh>

#include "codec/arith/dct8.hpp"
#include "cuda/base/architecture.cuh"
#include "cuda/base/check.hpp"
#include "cuda/base/launch.hpp"
#include "cuda/base/kept.cuh"
#include "cuda/base/look_back.cuh"
#include "cuda/base/shared_access.cuh"
#include "cuda/decode/predict_dc.cuh"

namespace zerorun {
namespace {

constexpr int kThreads = kTransformBlocks;
constexpr int kWarps = kThreads / 32;
static_assert(kPairsPerThread * sizeof(std::uint16_t) == sizeof(uint4));

/// One item a thread: the address of the block that the thread's first pair belongs to. It has 16
/// bits, as have all addresses in the static shared memory of a CTA without a cluster.
using PairDecode = cub::BlockRunLengthDecode<std::uint16_t, kThreads, 1, 1>;

/// The same row of all blocks is together, so that threads reading it use all banks of shared
/// memory.
constexpr std::uint32_t kBlockStride = kBlockEdge * sizeof(std::int16_t);
static_assert(kCoefficientRowBytes == kThreads * kBlockStride);

struct Shared {
  /// As if there were more blocks before the first.
  alignas(16) std::int16_t before[kPairsPerThread][kBlockEdge];
  /// Row, block, column. In place of a block's DC, which is not kept here: the address of the steps
  /// of its component.
  std::int16_t coefficient[kBlockEdge][kThreads][kBlockEdge];
  std::uint32_t step[kMaxComponents * kBlockSize];  ///< as in ScanSteps
  typename PairDecode::TempStorage runs;
  std::uint32_t first_pair[kThreads + 1];
  DcPrediction<kWarps> dc;
};

__device__ bool is_usual(std::int32_t value, std::int32_t most) {
  return value <= most && value >= -most;
}

/// The level of pair `number`.
__device__ std::int32_t whole_level(const TransformBlocksArgs& a, std::uint16_t pair,
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
__device__ std::uint32_t pass_pair(std::uint32_t index, std::uint32_t scaled, SharedAddress last,
                                   PairBlock& block) {
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
__device__ std::uint32_t times_four(std::uint32_t value) {
  std::uint32_t product = 0;
#ifdef __CUDA_ARCH__
  asm("shl.b32 %0, %1, 2;" : "=r"(product) : "r"(value));
#endif
  return product;
}

/// Stores the lower half of `value` for an index other than 0.
__device__ void store_ac(std::uint32_t index, SharedAddress at, std::uint32_t value) {
  asm volatile(
      "{\n\t"
      ".reg .pred is_ac;\n\t"
      "setp.ne.u32 is_ac, %0, 0;\n\t"
      "@is_ac st.shared.u16 [%1], %2;\n\t"
      "}" ::"r"(index),
      "r"(at), "h"(static_cast<std::uint16_t>(value)));
}

/// Eight pairs: two a word.
struct EightPairs {
  std::uint32_t two[kPairsPerThread / 2];

  __device__ explicit EightPairs(const std::uint16_t* pairs) {
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
__device__ std::int32_t dequantise_with_care(const TransformBlocksArgs& a, std::uint32_t first,
                                             std::uint32_t own, std::uint32_t end,
                                             SharedAddress last, PairBlock& block) {
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
__device__ PairSpan share_of_thread(std::uint32_t end) {
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
__device__ std::int32_t dequantise_span(const TransformBlocksArgs& a, std::uint32_t first,
                                        const PairSpan& own, EightPairs eight, PairBlock block,
                                        SharedAddress last) {
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
    eight = EightPairs(pairs);
  }
}

/// Dequantises the CTA's AC pairs into s.coefficient. Returns false for a value that no encoder
/// makes.
__device__ bool expand_pairs(const TransformBlocksArgs& a, Shared& s, std::uint32_t first_pair) {
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
  EightPairs eight(a.pairs + in_scan.begin);
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

// The coefficients of two columns in a word.
__device__ std::uint32_t lower_half(std::uint32_t two) {
  return static_cast<std::uint32_t>(std::int32_t{static_cast<std::int16_t>(two)});
}
/// In assembly because the compiler would mask the half first, which a product with a power of two
/// takes as it is, and then shift it for the other products: two instructions instead of one.
__device__ std::uint32_t upper_half(std::uint32_t two) {
  std::uint32_t half = 0;
#ifdef __CUDA_ARCH__
  asm("shr.s32 %0, %1, 16;" : "=r"(half) : "r"(two));
#endif
  return half;
}

/// The coefficients of the thread's block, in natural order.
__device__ void load_block(const Shared& s, std::int32_t dc, std::uint32_t (&out)[kBlockSize]) {
#pragma unroll
  for (std::uint32_t y = 0; y < kBlockEdge; ++y) {
    const uint4 row = *reinterpret_cast<const uint4*>(s.coefficient[y][threadIdx.x]);
    const std::uint32_t two[] = {row.x, row.y, row.z, row.w};
#pragma unroll
    for (std::uint32_t x = 0; x < kBlockEdge; ++x)
      out[y * kBlockEdge + x] = x % 2 == 0 ? lower_half(two[x / 2]) : upper_half(two[x / 2]);
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

template <typename Word>
__device__ void put(std::uint8_t* out, unsigned at, std::uint64_t row) {
  *reinterpret_cast<Word*>(out + at) = static_cast<Word>(row >> 8 * at);
}

/// Eight samples to any address: the word that 4 divides, and what is left before and after it. A
/// photo of 3837x2157 in rows without padding takes 265 us, and 285 with bytes alone (H100).
__device__ void store_row(std::uint8_t* out, std::uint64_t row) {
  const auto lead = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(out) % 4);
  put<std::uint32_t>(out, 4 - lead, row);
  if (lead == 0) {
    put<std::uint32_t>(out, 0, row);
    return;
  }
  if (lead != 2) {
    put<std::uint8_t>(out, 0, row);
    put<std::uint8_t>(out, 7, row);
  }
  if (lead != 3) put<std::uint16_t>(out, lead % 2, row);
  if (lead != 1) put<std::uint16_t>(out, 8 - lead, row);
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
  if (whole) {
#pragma unroll
    for (int y = 0; y < kBlockEdge; ++y, out += plane.stride_bytes)
      store_row(out, std::uint64_t{row[y].y} << 32 | row[y].x);
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

/// Waits until the pairs of the blocks from `first` on can be read, and where block `behind`
/// begins, or that the scan has not so many. Called by one warp. Terminates where all CTAs of the
/// kernel before run or are done.
__device__ void await_pairs(const TransformBlocksArgs& a, std::uint32_t first,
                            std::uint32_t behind) {
  // Chunks that end before the first block, as far as a sample of them tells.
  const std::uint32_t step = (a.chunks + 31) / 32;
  const std::uint32_t behind_sample = (threadIdx.x % 32 + 1) * step;
  const std::uint64_t sample =
      behind_sample <= a.chunks ? load_relaxed(a.chunk_counts + behind_sample - 1) : 0;
  const unsigned before = __ballot_sync(
      kFullWarp, tile_status(sample) >= 2 && blocks_of(sample & kTileSumMask) < first);
  const std::uint32_t from = (32 - __clz(static_cast<int>(before))) * step;
  await_readable(a.chunk_counts, a.chunks, kTileReadable | kTileSumMask, from,
                 [=](std::uint64_t state) { return blocks_of(state & kTileSumMask) > behind; });
}

/// Called by one thread, when all kernels before have ended.
__device__ void report_scan(const TransformBlocksArgs& a) {
  a.report->faults = faults_of(*a.summary);
  a.report->late_walks = a.summary->late_walks;
  a.report->far_chunks = a.summary->far_chunks;
}

static_assert(bounded_ctas(kTransformCtas, kThreads, sizeof(Shared), 90) == kTransformCtas,
              "as measured on Hopper");

/// `has_fault`: not all pairs are there.
template <bool kFollows>
__device__ void transform_cta(const TransformBlocksArgs& a, Shared& s, bool has_fault) {
  // CTAs that began before a fault was found may wait for this one.
  const auto give_up = [&] {
    if (kFollows && threadIdx.x == 0) store_relaxed(a.states + blockIdx.x, kTileInclusive);
  };
  if (has_fault) return give_up();
  const std::uint32_t first_block = blockIdx.x * kTransformBlocks;
  const std::uint32_t block = first_block + threadIdx.x;
  const bool exists = block < a.blocks;
  s.first_pair[threadIdx.x] = a.block_pair[min(block, a.blocks)];
  if (threadIdx.x == 0)
    s.first_pair[kThreads] = a.block_pair[min(first_block + kTransformBlocks, a.blocks)];
  const std::uint32_t mcu = a.by_mcu_blocks.quotient(block);
  const std::uint32_t index = block - mcu * a.by_mcu_blocks.value;
  const std::uint32_t component = a.layout.block_component[index];
  static_assert(kThreads == kBlockSize);
#pragma unroll
  for (int c = 0; c < kMaxComponents; ++c)
    s.step[c * kBlockSize + threadIdx.x] = a.steps->step[c][threadIdx.x];
  const SharedAddress steps = shared_address(s.step + component * kBlockSize);
#pragma unroll
  for (std::uint32_t y = 0; y < kBlockEdge; ++y)
    *reinterpret_cast<uint4*>(s.coefficient[y][threadIdx.x]) = uint4{y == 0 ? steps : 0};
  if (threadIdx.x < kPairsPerThread) s.before[threadIdx.x][0] = static_cast<std::int16_t>(steps);
  __syncthreads();
  if constexpr (kFollows) {
    // Where a fault is yet to be found, chunks may write over each other's pairs.
    const std::uint32_t begin = s.first_pair[threadIdx.x], end = s.first_pair[threadIdx.x + 1];
    const bool possible = begin <= end && end - begin <= kBlockSize && end <= a.pair_capacity;
    if (!__syncthreads_and(possible)) {
      a.report->late_fault = 1;
      return give_up();
    }
  }

  const std::int32_t dc_quantiser = quantiser_of(s.step[component * kBlockSize]);
  const std::uint32_t dc_pair = s.first_pair[threadIdx.x];
  const std::int32_t difference = exists ? whole_level(a, a.pairs[dc_pair], dc_pair) : 0;
  const bool head =
      exists && block == a.by_interval_blocks.quotient(block) * a.by_interval_blocks.value;
  const DcSums sums = s.dc.sum_within(a.states, difference, component, head);
  bool usual = expand_pairs(a, s, dc_pair);
  const std::int32_t dc =
      s.dc.finish(a.states, sums, component);  // its barrier also completes s.coefficient
  const std::int32_t dc_value = static_cast<std::int16_t>(dc) * dc_quantiser;
  usual &=
      !exists || (is_usual(difference, kMostDcDifference) && dc == static_cast<std::int16_t>(dc) &&
                  is_usual(dc_value, kMaxNarrowCoefficient));
  if (!usual) a.report->late_fault = 1;

  const ScanLayout::Component& shape = a.layout.component[component];
  const PlaneView& plane = a.plane[component];
  const auto mcu_y = static_cast<std::int32_t>(a.by_mcus_wide.quotient(mcu));
  const auto mcu_x = static_cast<std::int32_t>(mcu) - mcu_y * a.layout.mcus_wide;
  const std::int32_t x = mcu_x * shape.h + a.layout.block_x[index];
  const std::int32_t y = mcu_y * shape.v + a.layout.block_y[index];
  const bool inside = x < shape.blocks_wide && y < shape.blocks_high;
  if (!exists || !inside || plane.data == nullptr) return;
  // Kept in one register, because the transform needs all others: coordinates have 13 bits. The
  // assembler would find the samples' address before it, so that is made to depend on a result;
  // threadIdx.y is 0.
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

__global__ void __launch_bounds__(kThreads, bounded_ctas(kTransformCtas, kThreads, sizeof(Shared)))
    transform_blocks_kernel(const __grid_constant__ TransformBlocksArgs a) {
  __shared__ Shared s;
  wait_for_previous_kernel();
  // When it does, all CTAs of this one have begun. RGB of 3840x2160, one of eight, takes 80.8 us so
  // and 81.7 otherwise (H200).
  let_next_kernel_begin();
  if (blockIdx.x == 0 && threadIdx.x == 0) report_scan(a);
  transform_cta<false>(a, s, faults_of(*a.summary) != 0);
}

/// The same beside the kernel before, whose chunks it follows.
__global__ void __launch_bounds__(kThreads, bounded_ctas(kTransformCtas, kThreads, sizeof(Shared)))
    transform_followed_kernel(const __grid_constant__ TransformBlocksArgs a) {
  __shared__ Shared s;
  let_next_kernel_begin();
  const std::uint32_t first_block = blockIdx.x * kTransformBlocks;
  if (threadIdx.x < 32) await_pairs(a, first_block, min(first_block + kTransformBlocks, a.blocks));
  __syncthreads();
  // Other CTAs may just be finding more faults, so threads may see different ones.
  transform_cta<true>(a, s, __syncthreads_or(faults_of(*a.summary) != 0));
  if (blockIdx.x + 1 < gridDim.x) return;
  // The kernel behind this one waits for this one alone.
  wait_for_previous_kernel();
  if (threadIdx.x == 0) report_scan(a);
}

}  // namespace

Status transform_blocks(const TransformBlocksArgs& args, cudaStream_t stream) {
  const unsigned grid = grid_size(args.blocks, kTransformBlocks);
  const auto kernel =
      args.chunk_counts != nullptr ? transform_followed_kernel : transform_blocks_kernel;
  ZR_CUDA_TRY(launch_behind(kernel, LaunchShape{grid, kThreads}, stream, args));
  return Status::ok();
}

}  // namespace zerorun
