// CPU reference of dequantisation and the inverse transform. CUDA twin:
// cuda/stages/dequant_idct.cu.
// SPDX-License-Identifier: MIT
#include "codec/decode/dequant_idct.hpp"

#include <algorithm>
#include <cstring>

#include "codec/arith/quant.hpp"
#include "codec/base/simd.hpp"
// After simd.hpp: the transforms call its vector overloads.
#include "codec/arith/dct8.hpp"

namespace zerorun {
namespace {

// Three forms of idct8() and limit_sample() of arith. The 64-bit form is the definition; the other
// two are exact where they are used. Test: DequantIdct.EveryFormIsTheDefinition.

/// limit_sample() on eight lanes.
ZR_HD I32x8 limit_samples(U32x8 x) {
  I32x8 sample = ((I32x8)(x << 22) >> 22) + 128;
  sample &= ~(sample >> 31);       // below 0 becomes 0
  sample |= (255 - sample) >> 31;  // above 255 becomes all ones
  return sample & 255;
}

/// A block without AC: both passes reduce to one rounding.
ZR_HD void fill_flat(std::int32_t dc, std::uint8_t* out, std::int64_t stride) {
  const auto scaled = static_cast<std::uint32_t>(dc) << kPass1Bits;
  const std::uint8_t sample = limit_sample(descale(scaled, kPass1Bits + 3));
  for (int y = 0; y < 8; ++y) std::memset(out + y * stride, sample, 8);
}

/// Any coefficients, also those that no encoder makes.
void wide_block(const std::int32_t* coefficients, std::uint8_t* out, std::int64_t stride) {
  // libjpeg keeps 32 bits between the passes.
  std::int32_t work[kBlockSize];
  for (int x = 0; x < 8; ++x) {
    std::uint64_t v[8];
    for (int y = 0; y < 8; ++y)
      v[y] = static_cast<std::uint64_t>(std::int64_t{coefficients[8 * y + x]});
    idct8<1>(v);
    for (int y = 0; y < 8; ++y) work[8 * y + x] = static_cast<std::int32_t>(v[y]);
  }
  for (int y = 0; y < 8; ++y) {
    std::uint64_t v[8];
    for (int x = 0; x < 8; ++x) v[x] = static_cast<std::uint64_t>(std::int64_t{work[8 * y + x]});
    idct8<2>(v);
    for (int x = 0; x < 8; ++x)
      out[y * stride + x] = limit_sample(static_cast<std::uint32_t>(v[x]));
  }
}

constexpr I32x8 kAcOfRow0{0, -1, -1, -1, -1, -1, -1, -1};
static_assert(kMaxNarrowCoefficient == (1 << 15) - 1);

struct QuantRows {
  I32x8 q[8];
};

ZR_HD void decode_block(const std::int16_t* coefficients, const QuantRows& quant, std::uint8_t* out,
                        std::int64_t stride) {
  I32x8 c[8];
  U32x8 any_ac{}, magnitudes{};
  for (int y = 0; y < 8; ++y) {
    const I32x8 raw = load_coefficients(coefficients + 8 * y);
    any_ac |= (U32x8)(y == 0 ? raw & kAcOfRow0 : raw);
    c[y] = raw * quant.q[y];
    magnitudes |= (U32x8)(c[y] ^ (c[y] >> 31));  // as many bits as |x|, or |x| - 1
  }
  if (!any_bit(any_ac)) return fill_flat(c[0][0], out, stride);
  if (any_bit(magnitudes >> 15)) {
    std::int32_t dequantised[kBlockSize];
    std::memcpy(dequantised, c, sizeof dequantised);
    return wide_block(dequantised, out, stride);
  }
  U32x8 v[8];
  for (int y = 0; y < 8; ++y) v[y] = (U32x8)c[y];
  idct8<1>(v);
  transpose(v);
  idct8<2>(v);
  transpose(v);
  for (int y = 0; y < 8; ++y) store_samples(out + y * stride, limit_samples(v[y]));
}

ZR_MULTIVERSION void decode_mcus(const DequantIdctArgs& a) {
  QuantRows quant[kMaxComponents];
  for (int c = 0; c < a.layout.components; ++c)
    for (int i = 0; i < kBlockSize; ++i)
      quant[c].q[i / 8][i % 8] = static_cast<std::int16_t>(a.tables->table[c][i]);
  std::uint8_t edge[kBlockSize];
  const std::int16_t* block = a.coefficients;
  for (std::int64_t mcu = a.first_mcu; mcu < a.first_mcu + a.mcu_count; ++mcu) {
    for (int i = 0; i < a.layout.blocks_per_mcu; ++i, block += kBlockSize) {
      const BlockPlace place = place_block(a.layout, mcu, i);
      const PlaneView& plane = a.plane[place.component];
      if (!place.inside || plane.data == nullptr) continue;
      const int x0 = place.x * kBlockEdge, y0 = place.y * kBlockEdge;
      std::uint8_t* out = plane.data + y0 * plane.stride_bytes + x0;
      if (x0 + kBlockEdge <= plane.width && y0 + kBlockEdge <= plane.height) {
        decode_block(block, quant[place.component], out, plane.stride_bytes);
        continue;
      }
      decode_block(block, quant[place.component], edge, kBlockEdge);
      const auto columns = static_cast<std::size_t>(std::min(kBlockEdge, plane.width - x0));
      for (int y = 0; y < std::min(kBlockEdge, plane.height - y0); ++y)
        std::memcpy(out + y * plane.stride_bytes, edge + y * kBlockEdge, columns);
    }
  }
}

}  // namespace

Status dequant_idct_cpu(const DequantIdctArgs& args, Exec&) {
  decode_mcus(args);
  return Status::ok();
}

}  // namespace zerorun
