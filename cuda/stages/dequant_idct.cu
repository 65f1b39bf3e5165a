// CUDA twin of codec/decode/dequant_idct.cpp. Eight threads transform one block: each a column,
// then a row.
// SPDX-License-Identifier: MIT
#include "codec/decode/dequant_idct.hpp"

#include "codec/arith/dct8.hpp"
#include "codec/arith/quant.hpp"
#include "cuda/base/launch.hpp"
#include "cuda/base/scratch.hpp"

namespace zerorun {
namespace {

constexpr int kThreads = 256;
constexpr int kBlocks = kThreads / kBlockEdge;  // of a CTA
/// Rows of 9 words: the eight threads of a block read a column without bank conflicts.
constexpr int kPitch = kBlockEdge + 1;

/// One pass over 8 values that lie `step` words apart, in place. In 64 bits, because coefficients
/// that no encoder makes need them (kMaxNarrowCoefficient).
template <int kPass>
__device__ void transform(std::int32_t* values, int step) {
  std::uint64_t v[kBlockEdge];
#pragma unroll
  for (int i = 0; i < kBlockEdge; ++i)
    v[i] = static_cast<std::uint64_t>(std::int64_t{values[i * step]});
  idct8<kPass>(v);
#pragma unroll
  for (int i = 0; i < kBlockEdge; ++i) values[i * step] = static_cast<std::int32_t>(v[i]);
}

__global__ void __launch_bounds__(kThreads)
    idct_kernel(const __grid_constant__ DequantIdctArgs a, std::int64_t blocks) {
  __shared__ std::int32_t work[kBlocks][kBlockEdge * kPitch];
  const int in_cta = threadIdx.x / kBlockEdge, line = threadIdx.x % kBlockEdge;
  const std::int64_t block = std::int64_t{blockIdx.x} * kBlocks + in_cta;
  // Blocks after the last one are transformed like it, but not stored: warps stay whole.
  const std::int64_t source = min(block, blocks - 1);
  const BlockPlace place = place_block(a.layout, a.first_mcu + source / a.layout.blocks_per_mcu,
                                       static_cast<std::int32_t>(source % a.layout.blocks_per_mcu));
  std::int32_t* const values = work[in_cta];
  for (int x = 0; x < kBlockEdge; ++x) {
    const int natural = line * kBlockEdge + x;
    values[line * kPitch + x] = dequantise(a.coefficients[source * kBlockSize + natural],
                                           a.tables->table[place.component][natural]);
  }
  __syncwarp();
  transform<1>(values + line, kPitch);
  __syncwarp();
  transform<2>(values + line * kPitch, 1);
  const PlaneView plane = a.plane[place.component];
  const int x0 = place.x * kBlockEdge, y = place.y * kBlockEdge + line;
  if (block >= blocks || !place.inside || plane.data == nullptr || y >= plane.height) return;
  for (int x = 0; x < min(kBlockEdge, plane.width - x0); ++x)
    plane.data[y * plane.stride_bytes + x0 + x] =
        limit_sample(static_cast<std::uint32_t>(values[line * kPitch + x]));
}

}  // namespace

Status dequant_idct_cuda(const DequantIdctArgs& a, Exec& exec) {
  const std::int64_t blocks = a.mcu_count * a.layout.blocks_per_mcu;
  if (blocks == 0) return Status::ok();
  ZR_LAUNCH(idct_kernel, grid_size(blocks, kBlocks), kThreads, stream_of(exec), a, blocks);
  return Status::ok();
}

}  // namespace zerorun
