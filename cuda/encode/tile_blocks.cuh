// The blocks of a tile in the registers of a warp, a lane each in scan order: where a block lies,
// its samples, its quantised coefficients.
// SPDX-License-Identifier: MIT
#pragma once

#include "codec/arith/zigzag.hpp"
#include "cuda/base/warp.cuh"
#include "cuda/encode/frame_kernels.hpp"
#include "cuda/encode/packed_fdct.hpp"

namespace zerorun::cuda_encode {

struct Zigzag {
  std::uint8_t natural[kBlockSize];  ///< natural index of each position
  constexpr Zigzag() : natural{} {
    for (int k = 0; k < kBlockSize; ++k) natural[k] = kNaturalOfZigzag[static_cast<std::size_t>(k)];
  }
};
__device__ constexpr Zigzag kZigzag{};

__device__ inline int lane_index() { return static_cast<int>(threadIdx.x % 32); }

/// The blocks that a warp codes.
struct Tile {
  std::uint32_t interval;
  std::uint32_t first_block;  ///< counted in the interval
};

__device__ inline Tile tile_of(const TileGrid& grid, std::uint32_t number) {
  const std::uint32_t interval = grid.by_interval_tiles.quotient(number);
  return {interval, (number - interval * grid.interval_tiles) * kTileBlocks};
}

/// Number of the tile's chunk.
__device__ inline std::uint32_t chunk_of(const TileGrid& grid, const Tile& tile) {
  return tile.interval * grid.interval_chunks + tile.first_block / (kTileBlocks * kChunkTiles);
}

/// A block in scan order.
struct ScanPlace {
  std::uint32_t mcu;  ///< counted in the interval
  int in_mcu;

  __device__ static ScanPlace of(const CodeTilesArgs& a, std::uint32_t block) {
    const std::uint32_t mcu = a.grid.by_mcu_blocks.quotient(block);
    return {mcu, static_cast<int>(block - mcu * a.grid.by_mcu_blocks.value)};
  }
};

/// Where a block's samples lie.
struct Block {
  int component;
  int x, y;  ///< in blocks
  bool exists;
  bool padding;  ///< MCU padding: takes the samples of the last block before it that has some
};

/// In an MCU luma has 1, 2 or 4 blocks side by side in 1 or 2 rows, and chroma has one block.
__device__ inline Block block_at(const CodeTilesArgs& a, const Tile& tile, const ScanPlace& place) {
  const ScanLayout::Component& luma = a.layout.component[0];
  const ScanLayout::Component& chroma = a.layout.component[1];
  const int luma_blocks = luma.h * luma.v;
  const std::uint32_t mcu = tile.interval * a.grid.interval_mcus + place.mcu;
  const std::uint32_t mcu_y = a.grid.by_mcus_wide.quotient(mcu);
  const auto mcu_x = static_cast<int>(mcu - mcu_y * a.grid.by_mcus_wide.value);
  const bool is_luma = place.in_mcu < luma_blocks;
  Block b;
  b.exists = place.mcu < a.grid.interval_mcus && mcu < a.grid.mcus;
  b.component = is_luma ? 0 : place.in_mcu - luma_blocks + 1;
  const int h = is_luma ? luma.h : 1, v = is_luma ? luma.v : 1;
  const int wide = is_luma ? luma.blocks_wide : chroma.blocks_wide;
  const int high = is_luma ? luma.blocks_high : chroma.blocks_high;
  const int row = is_luma && place.in_mcu >= h ? 1 : 0;
  const int column = is_luma ? place.in_mcu - row * h : 0;
  b.x = mcu_x * h + column;
  b.y = static_cast<int>(mcu_y) * v + row;
  b.padding = b.x >= wide || b.y >= high;
  if (b.y >= high) {  // the last one of the row before
    --b.y;
    b.x = mcu_x * h + h - 1;
  }
  b.x = min(b.x, wide - 1);
  return b;
}

/// How many lanes before it the block lies that predicts DC (T.81 F.1.1.5.1).
__device__ inline int distance_to_predictor(const CodeTilesArgs& a, int component, int in_mcu) {
  const int of_luma = in_mcu > 0 ? 1 : a.layout.components;
  return component > 0 ? a.layout.blocks_per_mcu : of_luma;
}

/// A plane of the CTA's frame. Both chroma planes have the same size.
__device__ inline ConstPlaneView plane_of(const CodeTilesArgs& a, int component) {
  const PlanePlace& place = a.plane[blockIdx.y][component];
  const int size = component == 0 ? 0 : 1;
  return {place.data, place.stride_bytes, a.width[size], a.height[size]};
}

/// A row of samples of a block at an edge, where the plane's last column and row are repeated.
__device__ inline uint2 edge_row(const ConstPlaneView& plane, int x0, int y) {
  const std::uint8_t* const row = plane.data + min(y, plane.height - 1) * plane.stride_bytes;
  std::uint32_t half[2] = {};
#pragma unroll
  for (int x = 0; x < 8; ++x)
    half[x / 4] |= static_cast<std::uint32_t>(row[min(x0 + x, plane.width - 1)]) << (8 * (x % 4));
  return make_uint2(half[0], half[1]);
}

/// How the rows of a block are read. 3837x2157 without padding, eight frames at once: 30.1 us each,
/// and 36.2 sample by sample (H100).
enum class RowAccess {
  aligned,    ///< each lies in one word of 8 bytes
  unaligned,  ///< each lies in three words of 4 bytes, none of which ends after the plane
  edge,       ///< some samples are not in the plane
};

/// First sample of a row.
__device__ inline const std::uint8_t* row_of(const ConstPlaneView& plane, int x0, int y) {
  return plane.data + y * plane.stride_bytes + x0;
}

__device__ inline bool is_inside(const ConstPlaneView& plane, int x0, int y0) {
  return x0 + kBlockEdge <= plane.width && y0 + kBlockEdge <= plane.height;
}

__device__ inline bool is_aligned(const ConstPlaneView& plane, int x0, int y0) {
  const auto first = reinterpret_cast<std::uintptr_t>(row_of(plane, x0, y0));
  return (first | static_cast<std::uintptr_t>(plane.stride_bytes)) % 8 == 0;
}

__device__ inline RowAccess row_access(const ConstPlaneView& plane, int x0, int y0) {
  if (!is_inside(plane, x0, y0)) return RowAccess::edge;
  if (is_aligned(plane, x0, y0)) return RowAccess::aligned;
  constexpr int kMostAfter = 3;  // bytes of the last word after the row
  const bool rows_around = y0 > 0 && y0 + kBlockEdge < plane.height;  // the stride has any sign
  const bool ends_inside = x0 + kBlockEdge + kMostAfter <= plane.width || rows_around;
  return ends_inside ? RowAccess::unaligned : RowAccess::edge;
}

__device__ inline uint2 aligned_row(const std::uint8_t* row) {
  return __ldg(reinterpret_cast<const uint2*>(row));
}

__device__ inline uint2 unaligned_row(const std::uint8_t* row) {
  const auto lead = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(row) % 4);
  const auto* const words = reinterpret_cast<const std::uint32_t*>(row - lead);
  const std::uint32_t middle = __ldg(words + 1);
  return {__funnelshift_r(__ldg(words), middle, 8 * lead),
          lead == 0 ? middle : __funnelshift_r(middle, __ldg(words + 2), 8 * lead)};
}

/// Row `y` of the block that starts at (x0, y0).
__device__ inline uint2 load_row(const ConstPlaneView& plane, int x0, int y0, int y) {
  const std::uint8_t* const row = row_of(plane, x0, y0 + y);
  // The common case stands for itself: one of three cases is a jump through a table.
  if (is_inside(plane, x0, y0) && is_aligned(plane, x0, y0)) return aligned_row(row);
  if (row_access(plane, x0, y0) == RowAccess::unaligned) return unaligned_row(row);
  return edge_row(plane, x0, y0 + y);
}

/// Loads the rows of a block; at an edge through the lane's column of `buffer`, [16][32] words of
/// shared memory.
__device__ inline void load_rows(const ConstPlaneView& plane, const Block& b, std::uint32_t* buffer,
                                 uint2 (&rows)[8]) {
  const int x0 = b.x * kBlockEdge, y0 = b.y * kBlockEdge;
  const std::uint8_t* row = row_of(plane, x0, y0);
  if (is_inside(plane, x0, y0) && is_aligned(plane, x0, y0)) {  // as in load_row()
#pragma unroll
    for (int y = 0; y < 8; ++y, row += plane.stride_bytes) rows[y] = aligned_row(row);
    return;
  }
  if (row_access(plane, x0, y0) == RowAccess::unaligned) {
#pragma unroll
    for (int y = 0; y < 8; ++y, row += plane.stride_bytes) rows[y] = unaligned_row(row);
    return;
  }
  std::uint32_t* const column = buffer + lane_index();
#pragma unroll 1
  for (int y = 0; y < 8; ++y) {
    const uint2 samples = edge_row(plane, x0, y0 + y);
    column[2 * y * 32] = samples.x;
    column[(2 * y + 1) * 32] = samples.y;
  }
#pragma unroll
  for (int y = 0; y < 8; ++y) rows[y] = make_uint2(column[2 * y * 32], column[(2 * y + 1) * 32]);
}

/// A block's quantised coefficients.
struct Coefficients {
  /// In natural order. The lower 16 bits have the value, the upper ones those of kLevelMagicBits,
  /// plus 2 for chroma.
  std::uint32_t v[kBlockSize];
  /// Which of them are not 0, by zig-zag position, without DC.
  std::uint32_t low, high;

  __device__ std::uint32_t at(int position) const { return v[kZigzag.natural[position]]; }
};

/// Sum of the samples, once their rows are transformed.
__device__ inline std::uint32_t sum_of_samples(const Coefficients& c) {
  std::uint32_t sum = 0;  // of frequency 0 of the rows
#pragma unroll
  for (int y = 0; y < 8; ++y) sum += c.v[8 * y] - kRowOfZeros;
  return sum >> kPass1Bits;
}

/// Transforms the rows of a block to out.v. `word` makes what fdct_row() takes of four samples.
template <typename Word>
__device__ inline void transform_rows(const uint2 (&rows)[8], const Word& word, Coefficients& out) {
#pragma unroll
  for (int y = 0; y < 8; ++y) {
    std::uint32_t row[8];
    fdct_row(word(rows[y].x), word(rows[y].y), row);
#pragma unroll
    for (int x = 0; x < 8; ++x) out.v[8 * y + x] = row[x];
  }
}

/// Sets the masks from the values.
__device__ inline void find_nonzero(Coefficients& out) {
  // Positions k and k + 16 share a word: min(word, 1 | 1 << 16) has a bit for each.
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
  out.low = mask[0] & ~1u;
  out.high = mask[1];
}

/// The table of a block's component.
class Reciprocals {
 public:
  __device__ Reciprocals(const ReciprocalTables& tables, unsigned destination)
      : first_(reinterpret_cast<const float4*>(tables.vector[0][destination])) {}

  __device__ float dc() const { return first_->x; }
  /// Those of a column; `x` is a constant.
  __device__ void load(int x, float (&column)[8]) const {
    const float4 upper = first_[4 * x], lower = first_[4 * x + 2];
    column[0] = upper.x, column[1] = upper.y, column[2] = upper.z, column[3] = upper.w;
    column[4] = lower.x, column[5] = lower.y, column[6] = lower.z, column[7] = lower.w;
  }

 private:
  const float4* first_;
};

/// Calls visit(natural index, coefficient with kFloatMagicBits, its reciprocal) for the transformed
/// columns of a block.
template <typename Visit>
__device__ void for_each_column(const Reciprocals& reciprocals, Coefficients& c,
                                const Visit& visit) {
#pragma unroll
  for (int x = 0; x < 8; ++x) {
    std::uint32_t column[8];
#pragma unroll
    for (int y = 0; y < 8; ++y) column[y] = c.v[8 * y + x];
    fdct_column(column);
    float reciprocal[8];
    reciprocals.load(x, reciprocal);
#pragma unroll
    for (int y = 0; y < 8; ++y) visit(8 * y + x, column[y], reciprocal[y]);
  }
}

/// Transforms the columns and quantises.
__device__ inline void transform_columns(bool is_luma, const Reciprocals& reciprocals,
                                         Coefficients& out) {
  const float magic = kLevelMagic + (is_luma ? 0.0f : kChromaMagic);
  for_each_column(reciprocals, out, [&](int natural, std::uint32_t x, float reciprocal) {
    out.v[natural] = quantise_float(x, reciprocal, magic);
  });
  find_nonzero(out);
}

/// The last block of component `c` before the tile.
__device__ inline ScanPlace last_before(const CodeTilesArgs& a, const Tile& tile, int c) {
  const int luma_blocks = a.layout.component[0].h * a.layout.component[0].v;
  const int first = c == 0 ? 0 : luma_blocks + c - 1, end = c == 0 ? luma_blocks : first + 1;
  ScanPlace place = ScanPlace::of(a, tile.first_block);
  if (place.in_mcu <= first) {
    --place.mcu;
    place.in_mcu = end;
  }
  place.in_mcu = min(place.in_mcu, end) - 1;
  return place;
}

/// Sums the samples of those blocks, with their overshoot, by 8 lanes of a warp for each component.
/// `sums` has the lanes of a tile that ends where this one begins. `tune`: may be null.
__device__ inline void sum_blocks_before(const CodeTilesArgs& a, const Tile& tile,
                                         const TuneRules* tune,
                                         std::uint32_t (&sums)[kTileBlocks]) {
  const int c = lane_index() / 8, y = lane_index() % 8;
  const bool exists = c < a.layout.components;
  const ScanPlace place = last_before(a, tile, exists ? c : 0);
  const Block b = block_at(a, tile, place);
  const uint2 row = load_row(plane_of(a, b.component), b.x * kBlockEdge, b.y * kBlockEdge, y);
  std::uint32_t sum = __dp4a(row.x, 0x01010101u, __dp4a(row.y, 0x01010101u, 0u));
  const bool overshoots = tune != nullptr && tune->overshoots;
  if (overshoots) sum += count_clipped(row.x) + count_clipped(row.y);
#pragma unroll
  for (int distance = 4; distance > 0; distance /= 2)
    sum += __shfl_xor_sync(kFullWarp, sum, distance);
  if (overshoots) {
    const ClippedSamples clipped = clipped_samples(sum);
    sum = overshoot_of(clipped, tune->table[c == 0 ? 0 : 1].most_overshoot).sum_of(clipped);
  }
  const std::uint32_t block =
      place.mcu * a.grid.by_mcu_blocks.value + static_cast<std::uint32_t>(place.in_mcu);
  if (exists && y == 0) sums[block + kTileBlocks - tile.first_block] = sum;
}

/// Quantised DC of a block whose samples add up to `sum`; the transform of DC is exact.
__device__ inline std::int32_t dc_of_sum(std::uint32_t sum, float reciprocal) {
  const std::uint32_t dc =
      quantise_float(kFloatMagicBits + sum - 64 * 128, reciprocal, kLevelMagic);
  return static_cast<std::int32_t>(dc - kLevelMagicBits);
}

}  // namespace zerorun::cuda_encode
