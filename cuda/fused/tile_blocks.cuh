// A tile's blocks in the registers of its threads: where each lies, its samples, its quantised
// coefficients.
// SPDX-License-Identifier: MIT
#pragma once

#include "codec/arith/zigzag.hpp"
#include "cuda/fused/code_tiles.hpp"
#include "cuda/fused/fdct_block.cuh"

namespace zerorun::fused {

inline constexpr unsigned kFullWarp = 0xFFFFFFFFu;
inline constexpr int kTileThreads = kTileBlocks;

struct Zigzag {
  std::uint8_t natural[kBlockSize];  ///< index of a position
  constexpr Zigzag() : natural{} {
    for (int k = 0; k < kBlockSize; ++k) natural[k] = kNaturalOfZigzag[static_cast<std::size_t>(k)];
  }
};
__device__ constexpr Zigzag kZigzag{};

/// What a CTA codes.
struct Tile {
  int first_x, first_y;  ///< of its first MCU, in MCUs
  int mcus;
  bool starts_interval;
};

__device__ inline Tile tile_of(const CodeTilesArgs& a) {
  const std::uint32_t interval = blockIdx.x / a.grid.interval_tiles;
  const std::uint32_t skipped = blockIdx.x % a.grid.interval_tiles * a.grid.tile_mcus;
  const std::uint32_t first = interval * a.grid.interval_mcus + skipped;
  const auto all = static_cast<std::uint32_t>(a.layout.mcus());
  const std::uint32_t left = min(a.grid.interval_mcus - skipped, all - first);
  const auto wide = static_cast<std::uint32_t>(a.layout.mcus_wide);
  return {static_cast<int>(first % wide), static_cast<int>(first / wide),
          static_cast<int>(min(left, a.grid.tile_mcus)), skipped == 0};
}

/// The block of a thread. The blocks of a component stand together, those of an MCU row in order:
/// neighbours in a warp are neighbours in the plane.
struct Block {
  int component;
  int x, y;    ///< in blocks; of the block whose samples are coded
  int scan;    ///< number in the tile, in scan order
  int before;  ///< thread of the block that predicts DC; -1: in the tile before
  bool exists;
  bool padding;  ///< holds no sample: only DC of the block before it in the MCU
};

/// What coding has to know of it, in one word.
struct Coded {
  std::uint32_t word = 0;

  Coded() = default;
  __device__ explicit Coded(std::uint32_t w) : word(w) {}
  __device__ explicit Coded(const Block& b)
      : word(static_cast<std::uint32_t>(b.before + 1) | static_cast<std::uint32_t>(b.scan) << 8 |
             static_cast<std::uint32_t>(b.component) << 16 | std::uint32_t{b.exists} << 18 |
             std::uint32_t{b.padding} << 19) {}
  __device__ int before() const { return static_cast<int>(word & 0xFF) - 1; }
  __device__ unsigned scan() const { return word >> 8 & 0xFF; }
  __device__ unsigned component() const { return word >> 16 & 3; }
  __device__ unsigned destination() const { return component() != 0; }
  __device__ bool exists() const { return (word >> 18 & 1) != 0; }
  __device__ bool padding() const { return (word >> 19 & 1) != 0; }
};
static_assert(kTileBlocks <= 255);

/// Luma has 1, 2 or 4 blocks in a row of an MCU and 1 or 2 rows, chroma one block.
__device__ inline Block block_of(const CodeTilesArgs& a, const Tile& tile) {
  const int luma_h = a.layout.component[0].h, luma_v = a.layout.component[0].v;
  const int luma = tile.mcus * luma_h * luma_v;
  const auto thread = static_cast<int>(threadIdx.x);
  Block b;
  b.component = (thread >= luma) + (thread >= luma + tile.mcus);
  b.exists = thread < luma + (a.layout.components - 1) * tile.mcus;
  if (!b.exists) b.component = 0;
  const ScanLayout::Component& c = a.layout.component[b.component];
  const int first_thread = b.component == 0 ? 0 : luma + (b.component - 1) * tile.mcus;
  const int in_component = b.exists ? thread - first_thread : 0;
  const int row_blocks = tile.mcus * c.h;
  const int row = in_component >= row_blocks;
  const int column = in_component - row * row_blocks;
  const int mcu = column >> c.h / 2;
  const int in_row = column & (c.h - 1);
  if (in_row > 0)
    b.before = thread - 1;
  else if (row > 0)
    b.before = first_thread + column + c.h - 1;
  else
    b.before = mcu == 0 ? -1 : first_thread + (c.v - 1) * row_blocks + column - 1;
  const int first_index = b.component == 0 ? 0 : luma_h * luma_v + b.component - 1;
  b.scan = mcu * a.layout.blocks_per_mcu + first_index + row * c.h + in_row;
  int mcu_x = tile.first_x + mcu, mcu_y = tile.first_y;
  for (; mcu_x >= a.layout.mcus_wide; mcu_x -= a.layout.mcus_wide) ++mcu_y;
  const int x0 = mcu_x * c.h, y0 = mcu_y * c.v;
  b.x = x0 + in_row;
  b.y = y0 + row;
  b.padding = b.x >= c.blocks_wide || b.y >= c.blocks_high;
  // Back to the block before it that holds samples; the first one of an MCU does.
  while (b.x >= c.blocks_wide || b.y >= c.blocks_high) {
    if (b.x > x0) {
      --b.x;
    } else {
      b.x = x0 + c.h - 1;
      --b.y;
    }
  }
  return b;
}

/// A row of samples of a block at an edge, which repeats the plane's last column and row.
__device__ inline uint2 edge_row(const ConstPlaneView& plane, int x0, int y) {
  const std::uint8_t* const row = plane.data + min(y, plane.height - 1) * plane.stride_bytes;
  std::uint32_t half[2] = {};
#pragma unroll
  for (int x = 0; x < 8; ++x)
    half[x / 4] |= static_cast<std::uint32_t>(row[min(x0 + x, plane.width - 1)]) << (8 * (x % 4));
  return make_uint2(half[0], half[1]);
}

/// Rows of samples, from the plane where they are whole and aligned, else through the thread's
/// column of `buffer`, [16][kTileThreads] words of shared memory.
__device__ inline void load_rows(const ConstPlaneView& plane, const Block& b, std::uint32_t* buffer,
                                 uint2 (&rows)[8]) {
  const int x0 = b.x * kBlockEdge, y0 = b.y * kBlockEdge;
  const std::uint8_t* const first = plane.data + y0 * plane.stride_bytes + x0;
  const bool whole = x0 + kBlockEdge <= plane.width && y0 + kBlockEdge <= plane.height;
  const bool aligned =
      (reinterpret_cast<std::uintptr_t>(first) | static_cast<std::uintptr_t>(plane.stride_bytes)) %
          8 ==
      0;
  if (whole && aligned) {
#pragma unroll
    for (int y = 0; y < 8; ++y)
      rows[y] = __ldg(reinterpret_cast<const uint2*>(first + y * plane.stride_bytes));
    return;
  }
  std::uint32_t* const column = buffer + threadIdx.x;
#pragma unroll 1
  for (int y = 0; y < 8; ++y) {
    const uint2 row = edge_row(plane, x0, y0 + y);
    column[2 * y * kTileThreads] = row.x;
    column[(2 * y + 1) * kTileThreads] = row.y;
  }
#pragma unroll
  for (int y = 0; y < 8; ++y)
    rows[y] = make_uint2(column[2 * y * kTileThreads], column[(2 * y + 1) * kTileThreads]);
}

/// A block's quantised coefficients.
struct Coefficients {
  /// Natural order; the value stands in the lower 16 bits, above them kFloatMagicBits, plus 2^16 if
  /// the block is of chroma.
  std::uint32_t v[kBlockSize];
  /// Which of them are not 0, by zig-zag position; DC is not among them.
  std::uint32_t low, high;

  __device__ std::uint32_t at(int position) const { return v[kZigzag.natural[position]]; }
};

/// Samples -> quantised coefficients. `reciprocals`: of the block's table, column after column.
__device__ inline void transform(const uint2 (&rows)[8], const Block& b, const float* reciprocals,
                                 Coefficients& out) {
#pragma unroll
  for (int y = 0; y < 8; ++y) {
    std::uint32_t row[8];
    fdct_row(rows[y], row);
#pragma unroll
    for (int x = 0; x < 8; ++x) out.v[8 * y + x] = row[x];
  }
  const float magic = kFloatMagic + (b.component == 0 ? 0.0f : 65536.0f);
  const float4* const columns = reinterpret_cast<const float4*>(reciprocals);
#pragma unroll
  for (int x = 0; x < 8; ++x) {
    std::uint32_t column[8];
#pragma unroll
    for (int y = 0; y < 8; ++y) column[y] = out.v[8 * y + x];
    fdct_column(column);
    const float4 upper = columns[2 * x], lower = columns[2 * x + 1];
    const float reciprocal[8] = {upper.x, upper.y, upper.z, upper.w,
                                 lower.x, lower.y, lower.z, lower.w};
#pragma unroll
    for (int y = 0; y < 8; ++y) out.v[8 * y + x] = quantise_float(column[y], reciprocal[y], magic);
  }
  // Positions k and k + 16 in one word: min(word, 1 | 1 << 16) has a bit for each.
  std::uint32_t mask[2];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    mask[half] = 0;
#pragma unroll
    for (int k = 15; k >= 0; --k) {
      const std::uint32_t pair =
          __byte_perm(out.at(32 * half + k), out.at(32 * half + k + 16), 0x5410);
      mask[half] = mask[half] * 2 + __vminu2(pair, 0x00010001u);
    }
  }
  out.low = b.padding ? 0 : mask[0] & ~1u;
  out.high = b.padding ? 0 : mask[1];
}

/// DC of each component before the tile: the quantised mean of a block, whose transform is exactly
/// the sum of its samples. 8 lanes for each, by one warp.
__device__ inline void carry_dc(const CodeTilesArgs& a, const Tile& tile,
                                std::int32_t (&carried)[kMaxComponents]) {
  const int c = static_cast<int>(threadIdx.x) % 32 / 8, y = static_cast<int>(threadIdx.x) % 8;
  const bool exists = c < a.layout.components;
  std::uint32_t sum = 0;
  if (exists) {
    const ScanLayout::Component& component = a.layout.component[c];
    // Of the blocks of the MCU before, the last one that holds samples.
    const bool wraps = tile.first_x == 0;
    int bx = (wraps ? a.layout.mcus_wide : tile.first_x) * component.h - 1;
    int by = (tile.first_y + (wraps ? 0 : 1)) * component.v - 1;
    if (by >= component.blocks_high) by = component.blocks_high - 1;
    if (bx >= component.blocks_wide) bx = component.blocks_wide - 1;
    const uint2 row = edge_row(a.plane[c], bx * kBlockEdge, by * kBlockEdge + y);
    sum = __dp4a(row.x, 0x01010101u, __dp4a(row.y, 0x01010101u, 0u));
  }
#pragma unroll
  for (int distance = 4; distance > 0; distance /= 2)
    sum += __shfl_xor_sync(kFullWarp, sum, distance);
  if (exists && y == 0) {
    const std::uint32_t dc = quantise_float(kFloatMagicBits + sum - 64 * 128,
                                            a.reciprocals->table[c == 0 ? 0 : 1][0], kFloatMagic);
    carried[c] = static_cast<std::int32_t>(dc - kFloatMagicBits);
  }
}

}  // namespace zerorun::fused
