// CUDA twin of codec/decode/dequant_idct.cpp. Eight threads transform one block.
// SPDX-License-Identifier: MIT
#include "codec/decode/dequant_idct.hpp"

#include "codec/arith/dct8.hpp"
#include "codec/arith/quant.hpp"
#include "cuda/base/launch.hpp"
#include "cuda/base/scratch.hpp"
#include "cuda/base/tuning.hpp"

namespace zerorun {
namespace {

constexpr int kBlocks = tuning::kIdctBlocksPerCta;
constexpr int kThreads = kBlocks * kBlockEdge;
/// Rows of 9 words: the eight threads of a block read a column without bank conflicts.
constexpr int kPitch = kBlockEdge + 1;
static_assert(kThreads % 32 == 0);

struct Coefficients8 {
  std::int16_t value[kBlockEdge];
};

/// The thread's row of a block, dequantised.
__device__ void load_row(const DequantIdctArgs& a, std::int64_t block, int component, int row,
                         std::int32_t (&out)[kBlockEdge]) {
  union {
    uint4 vector;
    Coefficients8 raw;
  };
  vector = reinterpret_cast<const uint4*>(a.coefficients + block * kBlockSize)[row];
  const std::uint16_t* quant = a.tables->table[component] + row * kBlockEdge;
#pragma unroll
  for (int x = 0; x < kBlockEdge; ++x) out[x] = dequantise(raw.value[x], quant[x]);
}

/// One pass over 8 values that lie `step` words apart; in place.
template <int kPass, typename Word>
__device__ void transform(std::int32_t* values, int step) {
  Word v[kBlockEdge];
#pragma unroll
  for (int i = 0; i < kBlockEdge; ++i)  // extends the sign to 64 bits
    v[i] = static_cast<Word>(std::int64_t{values[i * step]});
  idct8<kPass>(v);
#pragma unroll
  for (int i = 0; i < kBlockEdge; ++i) values[i * step] = static_cast<std::int32_t>(v[i]);
}
template <int kPass>
__device__ void transform(std::int32_t* values, int step, bool wide) {
  if (wide) {
    transform<kPass, std::uint64_t>(values, step);
  } else {
    transform<kPass, std::uint32_t>(values, step);
  }
}

/// Stores the valid samples of one row of a block.
__device__ void store_row(const PlaneView& plane, int x0, int y, const std::int32_t* values) {
  if (y >= plane.height) return;
  std::uint8_t* out = plane.data + y * plane.stride_bytes + x0;
  std::uint64_t row = 0;
#pragma unroll
  for (int x = 0; x < kBlockEdge; ++x)
    row |= std::uint64_t{limit_sample(static_cast<std::uint32_t>(values[x]))} << (8 * x);
  if (x0 + kBlockEdge <= plane.width && reinterpret_cast<std::uintptr_t>(out) % kBlockEdge == 0) {
    *reinterpret_cast<std::uint64_t*>(out) = row;
    return;
  }
  const int columns = min(kBlockEdge, plane.width - x0);
  for (int x = 0; x < columns; ++x) out[x] = static_cast<std::uint8_t>(row >> (8 * x));
}

__global__ void __launch_bounds__(kThreads) idct_kernel(DequantIdctArgs a, std::int64_t blocks) {
  __shared__ std::int32_t work[kBlocks][kBlockEdge * kPitch];
  const int in_cta = threadIdx.x / kBlockEdge, line = threadIdx.x % kBlockEdge;
  const std::int64_t block = std::int64_t{blockIdx.x} * kBlocks + in_cta;
  const bool valid = block < blocks;
  std::int32_t* const values = work[in_cta];

  BlockPlace place{};
  PlaneView plane{};
  bool wide = false;
  if (valid) {
    place = place_block(a.layout, a.first_mcu + block / a.layout.blocks_per_mcu,
                        static_cast<std::int32_t>(block % a.layout.blocks_per_mcu));
    plane = place.component == 0 ? a.plane[0] : place.component == 1 ? a.plane[1] : a.plane[2];
    std::int32_t row[kBlockEdge];
    load_row(a, block, place.component, line, row);
#pragma unroll
    for (int x = 0; x < kBlockEdge; ++x) {
      wide |= row[x] > kMaxNarrowCoefficient || row[x] < -kMaxNarrowCoefficient;
      values[line * kPitch + x] = row[x];
    }
  }
  // Blocks with a coefficient that no encoder makes are transformed in 64 bits, by all eight
  // threads.
  const unsigned votes = __ballot_sync(0xFFFFFFFF, wide);
  wide = (votes >> (threadIdx.x % 32 / kBlockEdge * kBlockEdge) & 0xFF) != 0;
  __syncwarp();
  if (valid) transform<1>(values + line, kPitch, wide);
  __syncwarp();
  if (!valid || !place.inside || plane.data == nullptr) return;
  transform<2>(values + line * kPitch, 1, wide);
  store_row(plane, place.x * kBlockEdge, place.y * kBlockEdge + line, values + line * kPitch);
}

}  // namespace

Status dequant_idct_cuda(const DequantIdctArgs& a, Exec& exec) {
  const std::int64_t blocks = a.mcu_count * a.layout.blocks_per_mcu;
  if (blocks == 0) return Status::ok();
  ZR_LAUNCH(idct_kernel, grid_size(blocks, kBlocks), kThreads, stream_of(exec), a, blocks);
  return Status::ok();
}

}  // namespace zerorun
