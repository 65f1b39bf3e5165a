// A thread takes a block: its DC by a segmented scan over all blocks, its 64 coefficients by block
// run-length decode straight into registers, both passes of the inverse transform there.
// SPDX-License-Identifier: MIT
#include "cuda/fused_decode/transform_blocks.hpp"

#include <cub/block/block_run_length_decode.cuh>

#include <type_traits>
#include <utility>

#include "codec/arith/dct8.hpp"
#include "codec/arith/quant.hpp"
#include "codec/arith/zigzag.hpp"
#include "cuda/check.hpp"
#include "cuda/entropy/look_back.cuh"
#include "cuda/launch.hpp"

namespace zerorun {
namespace {

using cuda_entropy::kFullWarp;
using cuda_entropy::kTileAggregate;
using cuda_entropy::kTileInclusive;
using cuda_entropy::store_relaxed;
using cuda_entropy::walk_back;
using cuda_entropy::warp_sum;

constexpr int kThreads = kTransformBlocks;
constexpr int kWarps = kThreads / 32;
/// At once on a processor, by registers; 12, which spills a little, is no faster (H200, 4K at q90).
constexpr int kCtas = 10;
/// Runs that the CTA decodes at once; odd, against bank conflicts. At q90 a block has 15 on
/// average; where there are more, the blocks go in several rounds. With 25 a fifth of the CTAs of a
/// photo of a street do, with 31 one of 150.
constexpr int kRunsPerThread = 31;
constexpr std::uint32_t kRuns = kThreads * kRunsPerThread;
static_assert(kRuns >= kBlockSize && kThreads == kBlockSize && kThreads < kPairBlockMask);

using RunLengthDecode =
    cub::BlockRunLengthDecode<std::uint32_t, kThreads, kRunsPerThread, kBlockSize>;

/// DC sums of three components, 20 bits each. Sums of values between two blocks are differences of
/// DC values, which are checked to have 16 bits.
constexpr int kSumBits = 20;
constexpr std::uint64_t kSumsMask = (std::uint64_t{1} << 3 * kSumBits) - 1;

__device__ std::uint64_t pack_difference(std::int32_t difference, std::int32_t component) {
  return static_cast<std::uint64_t>(std::int64_t{difference}) << component * kSumBits & kSumsMask;
}
/// Field `component` of a sum of signed fields: those below may have borrowed from it.
__device__ std::int32_t unpack_sum(std::uint64_t sums, std::int32_t component) {
  std::int32_t value = 0;
  for (std::int32_t c = 0; c <= component; ++c) {
    value = static_cast<std::int32_t>(static_cast<std::uint32_t>(sums) << (32 - kSumBits)) >>
            (32 - kSumBits);
    sums = (sums - static_cast<std::uint64_t>(std::int64_t{value})) >> kSumBits;
  }
  return value;
}

/// A run for the decoder: the dequantised level, seven bits of the block's number, and the zig-zag
/// index, so that the coefficient that is the level knows it by its index. Both together are the
/// coefficient's number among those of 128 blocks.
constexpr std::uint32_t kRunPlace = kPairBlockMask << kPairBlockShift | kPairIndexMask;
static_assert(1 << kPairBlockShift == kBlockSize);
__device__ std::uint32_t make_run(std::int32_t level, std::uint32_t pair) {
  return static_cast<std::uint32_t>(level) << 16 | (pair & kRunPlace);
}
__device__ std::int32_t level_of_run(std::uint32_t run) {
  return static_cast<std::int32_t>(run) >> 16;
}

struct Shared {
  union {
    std::uint32_t runs_in[kRuns];
    typename RunLengthDecode::TempStorage runs;
  };
  std::uint32_t first_pair[kThreads + 1];
  std::int32_t dc[kThreads];  ///< dequantised
  std::uint16_t quant[kMaxComponents][kBlockSize];
  std::uint8_t component[kThreads];
  std::uint64_t warp_sums[kWarps], all, before;
  bool warp_has_head[kWarps], any_head, goes_on;
};

/// The largest difference between DC values of baseline streams is 2047. Sums of a few of those
/// that are let pass cannot overflow unseen.
constexpr std::int32_t kMostDcDifference = 4095;

__device__ bool is_usual(std::int32_t value, std::int32_t most) {
  return value <= most && value >= -most;
}

/// Sums at the end of the CTA before, of its interval; by one warp. A CTA in which an interval
/// begins publishes what follows from there as inclusive.
__device__ std::uint64_t look_back_sums(const std::uint64_t* states, std::uint32_t tile) {
  std::uint64_t own = 0;
  walk_back<4>(states, tile, [&](std::uint64_t state, bool counts) {
    if (counts) own += state & kSumsMask;
    return false;
  });
  return warp_sum(own) & kSumsMask;
}

/// A thread's block, while its DC is predicted (T.81 F.2.1.3.1).
struct Dc {
  std::uint64_t sums;  ///< of the differences up to the block's, as far as they are known
  std::int32_t difference, component;
  bool exists, open;  ///< open: the interval began before the CTA
};

/// Sums within the CTA; publishes what the CTAs behind need of it, as early as can be.
__device__ Dc sum_differences(const TransformBlocksArgs& a, Shared& s, std::uint32_t block,
                              std::int32_t component) {
  const std::uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const bool exists = block < a.blocks;
  const bool head = exists && block % a.interval_blocks == 0;
  const std::int32_t difference = exists ? level_of(a.pairs[s.first_pair[threadIdx.x]]) : 0;
  std::uint64_t sums = pack_difference(difference, component);
  const std::uint32_t heads = __ballot_sync(kFullWarp, head);
  const std::uint32_t heads_so_far = heads & (0xFFFFFFFFu >> (31 - lane));
  const std::uint32_t first = heads_so_far != 0 ? 31 - __clz(static_cast<int>(heads_so_far)) : 0;
  for (std::uint32_t step = 1; step < 32; step *= 2) {
    const std::uint64_t left = __shfl_up_sync(kFullWarp, sums, step);
    if (lane >= first + step) sums += left;
  }
  if (lane == 31) {
    s.warp_sums[warp] = sums;
    s.warp_has_head[warp] = heads != 0;
  }
  __syncthreads();
  bool open = heads_so_far == 0;  // its interval began in a warp before
  for (int w = static_cast<int>(warp) - 1; w >= 0 && open; --w) {
    sums += s.warp_sums[w];
    open = !s.warp_has_head[w];
  }
  if (threadIdx.x < 32) {
    std::uint64_t all = 0;
    bool any_head = false;
    for (int w = kWarps - 1; w >= 0 && !any_head; --w) {
      all += s.warp_sums[w];
      any_head = s.warp_has_head[w];
    }
    all &= kSumsMask;
    if (lane == 0)
      store_relaxed(a.states + blockIdx.x, (any_head ? kTileInclusive : kTileAggregate) | all);
    if (lane == 0) {
      s.all = all;
      s.any_head = any_head;
      s.goes_on = !head;
    }
  }
  return {sums, difference, component, exists, open};
}

/// Adds what stands before the CTA; the result is s.dc. Returns false for a DC that no encoder
/// makes.
__device__ bool finish_dc(const TransformBlocksArgs& a, Shared& s, const Dc& dc) {
  if (threadIdx.x < 32) {
    const std::uint64_t before = s.goes_on ? look_back_sums(a.states, blockIdx.x) : 0;
    if (threadIdx.x == 0) {
      if (!s.any_head)
        store_relaxed(a.states + blockIdx.x, kTileInclusive | ((before + s.all) & kSumsMask));
      s.before = before;
    }
  }
  __syncthreads();
  const std::uint64_t sums = dc.open ? dc.sums + s.before : dc.sums;
  const std::int32_t level = unpack_sum(sums & kSumsMask, dc.component);
  const std::int32_t value = dequantise(static_cast<std::int16_t>(level), s.quant[dc.component][0]);
  s.dc[threadIdx.x] = value;
  return !dc.exists ||
         (is_usual(dc.difference, kMostDcDifference) && level == static_cast<std::int16_t>(level) &&
          is_usual(value, kMaxNarrowCoefficient));
}

/// The runs of `count` blocks from `from` on, dequantised, to s.runs_in; how many.
__device__ std::uint32_t load_runs(const TransformBlocksArgs& a, Shared& s, std::uint32_t from,
                                   std::uint32_t count) {
  constexpr std::uint32_t kAtOnce = 8;  // on their way from memory
  const std::uint32_t first = s.first_pair[from];
  const std::uint32_t runs = s.first_pair[from + count] - first;
  const std::uint32_t cta_block = blockIdx.x * kTransformBlocks;
  bool usual = true;
  for (std::uint32_t base = threadIdx.x; base < runs; base += kAtOnce * kThreads) {
    std::uint32_t pair[kAtOnce];
#pragma unroll
    for (std::uint32_t i = 0; i < kAtOnce; ++i)
      pair[i] = a.pairs[first + min(base + i * kThreads, runs - 1)];
#pragma unroll
    for (std::uint32_t i = 0; i < kAtOnce; ++i) {
      const std::uint32_t k = pair[i] & kPairIndexMask, at = base + i * kThreads;
      const std::uint32_t block = (pair[i] >> kPairBlockShift) - cta_block & kPairBlockMask;
      const std::int32_t value =
          level_of(pair[i]) * static_cast<std::int16_t>(s.quant[s.component[block % kThreads]][k]);
      usual &= k == 0 || is_usual(value, kMaxNarrowCoefficient);
      if (at < kRuns) s.runs_in[at] = make_run(value, pair[i]);
    }
  }
  if (!usual) a.report->late_fault = 1;
  return runs;
}

/// The coefficients of block `from` + threadIdx.x of the CTA, in natural order. Every run has the
/// level first and then zeros.
__device__ void expand(Shared& s, std::uint32_t from, std::uint32_t runs,
                       std::uint32_t (&out)[kBlockSize]) {
  const std::uint32_t first_block = blockIdx.x * kTransformBlocks + from;
  std::uint32_t run[kRunsPerThread], offset[kRunsPerThread];
#pragma unroll
  for (int i = 0; i < kRunsPerThread; ++i) {
    const std::uint32_t at = threadIdx.x * kRunsPerThread + static_cast<std::uint32_t>(i);
    run[i] = at < runs ? s.runs_in[at] : 0;
    offset[i] = at < runs ? (run[i] - first_block * kBlockSize) & kRunPlace : 0x7FFFFFFFu;
  }
  __syncthreads();  // s.runs takes the place of s.runs_in
  RunLengthDecode decoder(s.runs, run, offset);
  std::uint32_t items[kBlockSize];
  decoder.RunLengthDecode(items);
  const auto natural = [&]<std::size_t... k>(std::index_sequence<k...>) {
    ((out[std::integral_constant<int, kNaturalOfZigzag[k]>::value] =
          (items[k] & kPairIndexMask) == k ? static_cast<std::uint32_t>(level_of_run(items[k]))
                                           : 0),
     ...);
  };
  natural(std::make_index_sequence<kBlockSize>{});
  out[0] = static_cast<std::uint32_t>(s.dc[(from + threadIdx.x) % kThreads]);
}

__device__ void inverse_transform(std::uint32_t (&c)[kBlockSize]) {
#pragma unroll
  for (int x = 0; x < kBlockEdge; ++x) {
    std::uint32_t v[kBlockEdge];
#pragma unroll
    for (int y = 0; y < kBlockEdge; ++y) v[y] = c[y * kBlockEdge + x];
    idct8<1>(v);
#pragma unroll
    for (int y = 0; y < kBlockEdge; ++y) c[y * kBlockEdge + x] = v[y];
  }
#pragma unroll
  for (int y = 0; y < kBlockEdge; ++y) {
    std::uint32_t v[kBlockEdge];
#pragma unroll
    for (int x = 0; x < kBlockEdge; ++x) v[x] = c[y * kBlockEdge + x];
    idct8<2>(v);
#pragma unroll
    for (int x = 0; x < kBlockEdge; ++x) c[y * kBlockEdge + x] = v[x];
  }
}

/// limit_sample() of two values, in two halfwords.
__device__ std::uint32_t limit_two(std::uint32_t first, std::uint32_t second) {
  // Ten bits of each with the sign's turned over are the value plus 512.
  const std::uint32_t biased = (__byte_perm(first, second, 0x5410) & 0x03FF03FFu) ^ 0x02000200u;
  constexpr std::uint32_t kToSamples = 0xFE80FE80u;  // 128 - 512, twice
  return __viaddmin_s16x2_relu(biased, kToSamples, 0x00FF00FFu);
}

/// Four samples as bytes.
__device__ std::uint32_t limit_four(const std::uint32_t* values) {
  return __byte_perm(limit_two(values[0], values[1]), limit_two(values[2], values[3]), 0x6420);
}

/// Stores the valid samples.
__device__ void store_block(const PlaneView& plane, const BlockPlace& place,
                            const std::uint32_t (&samples)[kBlockSize]) {
  const int x0 = place.x * kBlockEdge, y0 = place.y * kBlockEdge;
  std::uint8_t* const out = plane.data + y0 * plane.stride_bytes + x0;
  const bool whole = x0 + kBlockEdge <= plane.width && plane.stride_bytes % kBlockEdge == 0 &&
                     reinterpret_cast<std::uintptr_t>(out) % kBlockEdge == 0;
#pragma unroll
  for (int y = 0; y < kBlockEdge; ++y) {
    const std::uint32_t* const values = samples + y * kBlockEdge;
    const std::uint32_t half[2] = {limit_four(values), limit_four(values + 4)};
    if (y0 + y >= plane.height) continue;
    std::uint8_t* const row = out + y * plane.stride_bytes;
    if (whole) {
      *reinterpret_cast<uint2*>(row) = {half[0], half[1]};
    } else {
#pragma unroll
      for (int x = 0; x < kBlockEdge; ++x)
        if (x0 + x < plane.width) row[x] = static_cast<std::uint8_t>(half[x / 4] >> x % 4 * 8);
    }
  }
}

__global__ void __launch_bounds__(kThreads, kCtas)
    transform_blocks_kernel(const __grid_constant__ TransformBlocksArgs a) {
  __shared__ Shared s;
  wait_for_previous_kernel();
  const std::uint32_t faults = a.summary->faults;
  if (blockIdx.x == 0 && threadIdx.x == 0) a.report->faults = faults;
  if (faults != 0) return;  // not all pairs are there
  const std::uint32_t first_block = blockIdx.x * kTransformBlocks;
  const std::uint32_t block = first_block + threadIdx.x;
  s.first_pair[threadIdx.x] = a.block_pair[min(block, a.blocks)];
  if (threadIdx.x == 0)
    s.first_pair[kThreads] = a.block_pair[min(first_block + kTransformBlocks, a.blocks)];
  const auto blocks_per_mcu = static_cast<std::uint32_t>(a.layout.blocks_per_mcu);
  const std::uint8_t component = a.layout.block_component[block % blocks_per_mcu];
  s.component[threadIdx.x] = component;
  for (int c = 0; c < kMaxComponents; ++c) s.quant[c][threadIdx.x] = a.quant->table[c][threadIdx.x];
  __syncthreads();
  const Dc dc = sum_differences(a, s, block, component);
  const std::uint32_t here = min(kTransformBlocks, a.blocks - first_block);
  for (std::uint32_t from = 0; from < here;) {
    __syncthreads();  // the last round's runs are no longer needed
    const bool fits = threadIdx.x >= from && threadIdx.x < here &&
                      s.first_pair[threadIdx.x + 1] - s.first_pair[from] <= kRuns;
    const auto count = static_cast<std::uint32_t>(__syncthreads_count(fits));
    const std::uint32_t runs = load_runs(a, s, from, count);
    if (from == 0 && !finish_dc(a, s, dc)) a.report->late_fault = 1;
    __syncthreads();
    std::uint32_t c[kBlockSize];
    expand(s, from, runs, c);
    if (threadIdx.x < count) {
      const std::uint32_t number = first_block + from + threadIdx.x;
      const BlockPlace place = place_block(a.layout, number / blocks_per_mcu,
                                           static_cast<std::int32_t>(number % blocks_per_mcu));
      const PlaneView& plane = a.plane[place.component];
      if (place.inside && plane.data != nullptr) {
        inverse_transform(c);
        store_block(plane, place, c);
      }
    }
    from += count;
  }
}

}  // namespace

Status transform_blocks(const TransformBlocksArgs& args, cudaStream_t stream) {
  const unsigned grid = grid_size(args.blocks, kTransformBlocks);
  ZR_CUDA_TRY(launch_behind(transform_blocks_kernel, LaunchShape{grid, kThreads}, stream, args));
  return Status::ok();
}

}  // namespace zerorun
