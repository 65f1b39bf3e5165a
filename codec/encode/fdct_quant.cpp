// CPU reference of the forward transform and quantisation. CUDA twin: cuda/stages/fdct_quant.cu.
// SPDX-License-Identifier: MIT
#include "codec/encode/fdct_quant.hpp"

#include <algorithm>

#include "codec/base/simd.hpp"
// After simd.hpp: the transforms call its vector overloads.
#include "codec/arith/dct8.hpp"

namespace zerorun {
namespace {

/// The divisors of a table as eight rows of vectors.
struct DivisorRows {
  U32x8 half[8], reciprocal[8], shift[8];
};

void load_divisors(const Divisor* table, DivisorRows& rows) {
  for (int i = 0; i < kBlockSize; ++i) {
    rows.half[i / 8][i % 8] = table[i].half;
    rows.reciprocal[i / 8][i % 8] = table[i].reciprocal;
    rows.shift[i / 8][i % 8] = table[i].shift;
  }
}

/// Copies a block that lies partly outside the plane, repeating the last column and row.
void gather_edge_block(const ConstPlaneView& plane, int x0, int y0, std::uint8_t* out) {
  for (int y = 0; y < kBlockEdge; ++y) {
    const std::uint8_t* row = plane.data + std::min(y0 + y, plane.height - 1) * plane.stride_bytes;
    for (int x = 0; x < kBlockEdge; ++x)
      out[y * kBlockEdge + x] = row[std::min(x0 + x, plane.width - 1)];
  }
}

/// fdct8() and quantise_magnitude() of arith on eight lanes, so the bytes follow from one
/// definition. Test: FdctQuant.VectorFormIsTheScalarDefinition.
ZR_HD void code_block(const std::uint8_t* samples, std::int64_t stride, const DivisorRows& divisors,
                      std::int16_t* zz) {
  U32x8 v[8];
  for (int y = 0; y < 8; ++y) v[y] = load_samples(samples + y * stride) - 128u;  // T.81 A.3.1
  transpose(v);
  fdct8<1>(v);
  transpose(v);
  fdct8<2>(v);
  std::int16_t natural[kBlockSize];
  for (int y = 0; y < 8; ++y) {
    const I32x8 x = (I32x8)v[y];
    const U32x8 sign = (U32x8)(x >> 31);  // 0 or all ones: (m ^ sign) - sign negates
    const U32x8 magnitude = ((U32x8)x ^ sign) - sign;
    const U32x8 q =
        quantise_magnitude(magnitude, divisors.half[y], divisors.reciprocal[y], divisors.shift[y]);
    store_coefficients(natural + 8 * y, (I32x8)((q ^ sign) - sign));
  }
  // Force the block into memory: GCC would take the lanes out of the registers one by one, which
  // takes twice as long.
  __asm__ volatile("" : : "r"(natural) : "memory");
#pragma GCC unroll 64
  for (int k = 0; k < kBlockSize; ++k) zz[k] = natural[kNaturalOfZigzag[static_cast<unsigned>(k)]];
}

ZR_MULTIVERSION void code_mcus(const FdctQuantArgs& a) {
  DivisorRows divisors[2];
  load_divisors(a.divisors->table[0], divisors[0]);
  load_divisors(a.divisors->table[1], divisors[1]);
  std::uint8_t edge[kBlockSize];
  std::int16_t* zz = a.zz;
  for (std::int64_t mcu = a.first_mcu; mcu < a.first_mcu + a.mcu_count; ++mcu) {
    for (int i = 0; i < a.layout.blocks_per_mcu; ++i, zz += kBlockSize) {
      const BlockPlace place = place_block(a.layout, mcu, i);
      if (!place.inside) {
        std::fill_n(zz, kBlockSize, std::int16_t{0});
        zz[0] = zz[-kBlockSize];
        continue;
      }
      const ConstPlaneView& plane = a.plane[place.component];
      const int x0 = place.x * kBlockEdge, y0 = place.y * kBlockEdge;
      const DivisorRows& rows = divisors[place.component == 0 ? 0 : 1];
      if (x0 + kBlockEdge <= plane.width && y0 + kBlockEdge <= plane.height) {
        code_block(plane.data + y0 * plane.stride_bytes + x0, plane.stride_bytes, rows, zz);
      } else {
        gather_edge_block(plane, x0, y0, edge);
        code_block(edge, kBlockEdge, rows, zz);
      }
    }
  }
}

}  // namespace

Status fdct_quant_cpu(const FdctQuantArgs& args, Exec&) {
  code_mcus(args);
  return Status::ok();
}

}  // namespace zerorun
