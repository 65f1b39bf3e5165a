// The tuned form of transform_columns(): a lane decides about the coefficients of its block by
// codec/arith/tune.hpp, in shared memory, and takes them back into registers.
// SPDX-License-Identifier: MIT
#pragma once

#include "codec/arith/tune.hpp"
#include "cuda/encode/list_items.cuh"

namespace zerorun::cuda_encode {

/// Zig-zag position of each natural index.
struct ZigzagPosition {
  std::uint8_t of[kBlockSize];
  constexpr ZigzagPosition() : of{} {
    for (int k = 0; k < kBlockSize; ++k)
      of[kNaturalOfZigzag[static_cast<std::size_t>(k)]] = static_cast<std::uint8_t>(k);
  }
};
__device__ constexpr ZigzagPosition kZigzagPosition{};

/// Transforms the columns, stores all AC coefficients in the lane's column of w.coefficient, and
/// quantises DC into out.v[0]. Returns which of them do not round to 0, by zig-zag position.
__device__ inline std::uint64_t store_raw_columns(WarpShared& w, const TuneTable& table,
                                                  float dc_reciprocal, float magic,
                                                  Coefficients& out) {
  std::uint32_t low = 0, high = 0;
  std::uint32_t dc = 0;
#pragma unroll
  for (int x = 0; x < 8; ++x) {
    std::uint32_t column[8];
#pragma unroll
    for (int y = 0; y < 8; ++y) column[y] = out.v[8 * y + x];
    fdct_column(column);
    if (x == 0) dc = quantise_float(column[0], dc_reciprocal, magic);
#pragma unroll
    for (int y = 0; y < 8; ++y) {
      const int k = kZigzagPosition.of[8 * y + x];
      if (k == 0) continue;
      const auto value = static_cast<std::int32_t>(column[y] - kFloatMagicBits);
      w.coefficient[k][lane_index()] = static_cast<std::int16_t>(value);
      const std::uint32_t bit =
          static_cast<std::uint32_t>(abs(value)) >= table.least[k] ? 1u << k % 32 : 0;
      (k < 32 ? low : high) |= bit;
    }
  }
  out.v[0] = dc;
  return static_cast<std::uint64_t>(high) << 32 | low;
}

/// Transforms the columns of the lane's block and decides about its coefficients.
__device__ inline void tune_columns_of_tile(const Shared& s, WarpShared& w, const TuneRules& rules,
                                            const Coded& b, Coefficients& c) {
  const unsigned destination = b.destination();
  const TuneTable& table = rules.table[destination];
  const bool is_luma = destination == 0;
  const float magic = kFloatMagic + (is_luma ? 0.0f : kChromaMagic);
  std::uint64_t kept = store_raw_columns(w, table, s.reciprocals.table[destination][0], magic, c);
  RawBlock block(&w.coefficient[0][lane_index()], 32, table);
  kept = b.padding ? 0 : tune_block(block, kept, rules, table, b.energy);
  const std::uint32_t base = __float_as_uint(magic);
#pragma unroll
  for (int k = 1; k < kBlockSize; ++k)
    c.v[kZigzag.natural[k]] =
        base + static_cast<std::uint32_t>(std::int32_t{w.coefficient[k][lane_index()]});
  c.low = static_cast<std::uint32_t>(kept);
  c.high = static_cast<std::uint32_t>(kept >> 32);
  __syncwarp();  // other lanes write items over these coefficients
}

}  // namespace zerorun::cuda_encode
