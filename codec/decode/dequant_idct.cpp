// CPU reference of dequantisation and the inverse transform. CUDA twin:
// cuda/stages/dequant_idct.cu.
// SPDX-License-Identifier: MIT
#include "codec/decode/dequant_idct.hpp"

#include <algorithm>

#include "codec/arith/dct8.hpp"
#include "codec/arith/quant.hpp"
#include "codec/arith/reduced_idct.hpp"

namespace zerorun {
namespace {

/// One block (T.81 A.3.4, A.3.3, A.3.1). 64 bits hold the sums of any coefficients, also of those
/// that no encoder makes; between the passes libjpeg keeps 32 of them.
void decode_block(const std::int16_t* coefficients, const std::uint16_t* quant, int shrink,
                  std::uint8_t (&samples)[kBlockEdge][kBlockEdge]) {
  if (shrink != 0) {
    const auto at = [&](int y, int x) {
      return dequantise(coefficients[y * kBlockEdge + x], quant[y * kBlockEdge + x]);
    };
    const auto put = [&](int y, int x, std::uint8_t sample) { samples[y][x] = sample; };
    return reduce_block<std::uint64_t>(shrink, at, put);
  }
  std::int32_t work[kBlockEdge][kBlockEdge];
  std::uint64_t v[kBlockEdge];
  for (int x = 0; x < kBlockEdge; ++x) {
    for (int y = 0; y < kBlockEdge; ++y) {
      const int at = y * kBlockEdge + x;
      v[y] = static_cast<std::uint64_t>(std::int64_t{dequantise(coefficients[at], quant[at])});
    }
    idct8<1>(v);
    for (int y = 0; y < kBlockEdge; ++y) work[y][x] = static_cast<std::int32_t>(v[y]);
  }
  for (int y = 0; y < kBlockEdge; ++y) {
    for (int x = 0; x < kBlockEdge; ++x)
      v[x] = static_cast<std::uint64_t>(std::int64_t{work[y][x]});
    idct8<2>(v);
    for (int x = 0; x < kBlockEdge; ++x)
      samples[y][x] = limit_sample(static_cast<std::uint32_t>(v[x]));
  }
}

}  // namespace

Status dequant_idct_cpu(const DequantIdctArgs& a, Exec&) {
  const std::int16_t* block = a.coefficients;
  for (std::int64_t mcu = a.first_mcu; mcu < a.first_mcu + a.mcu_count; ++mcu) {
    for (int i = 0; i < a.layout.blocks_per_mcu; ++i, block += kBlockSize) {
      const BlockPlace place = place_block(a.layout, mcu, i);
      const PlaneView& plane = a.plane[place.component];
      if (!place.inside || plane.data == nullptr) continue;
      const int edge = reduced_edge(plane.shrink);
      const int x0 = (place.x - plane.block_x) * edge, y0 = (place.y - plane.block_y) * edge;
      if (x0 < 0 || y0 < 0 || x0 >= plane.width || y0 >= plane.height) continue;
      std::uint8_t samples[kBlockEdge][kBlockEdge];
      decode_block(block, a.tables->table[place.component], plane.shrink, samples);
      const int columns = std::min(edge, plane.width - x0);
      for (int y = 0; y < std::min(edge, plane.height - y0); ++y)
        std::copy_n(samples[y], columns, plane.data + (y0 + y) * plane.stride_bytes + x0);
    }
  }
  return Status::ok();
}

}  // namespace zerorun
