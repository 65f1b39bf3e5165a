// Each thread transforms a block: a segmented scan gives its DC, its AC coefficients come from
// pairs that the CTA expands together (expand_pairs.cuh), and the inverse transform runs in
// registers.
// SPDX-License-Identifier: MIT
#include "cuda/decode/scan_kernels.hpp"

#include "codec/arith/reduced_idct.hpp"
#include "cuda/base/architecture.cuh"
#include "cuda/base/check.hpp"
#include "cuda/base/launch.hpp"
#include "cuda/base/look_back.cuh"
#include "cuda/decode/expand_pairs.cuh"

namespace zerorun {
namespace {

using namespace pair_expansion;

__device__ bool is_usual(std::int32_t value, std::int32_t most) {
  return value <= most && value >= -most;
}

// The coefficients of two columns in a word.
__device__ std::uint32_t lower_half(std::uint32_t two) {
  return static_cast<std::uint32_t>(std::int32_t{static_cast<std::int16_t>(two)});
}
/// In assembly: the compiler would mask the half first, for products with powers of two, and then
/// shift it for the others.
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

Status transform_blocks(const ScanArgs& args, LaunchChain& chain) {
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
  ZR_CUDA_TRY(chain.add(kernel, LaunchShape{grid, kThreads}, args));
  return Status::ok();
}

}  // namespace zerorun
