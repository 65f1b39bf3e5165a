// The scan index: adds the bits and pairs that a tile has of each group of MCUs to the group's
// sums.
// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/encode/list_items.cuh"

namespace zerorun::cuda_encode {

/// The group of a lane's block.
struct GroupPlace {
  bool starts;          ///< the block is the first of a group, or of the tile
  std::uint32_t group;  ///< its number in the frame
};

__device__ inline GroupPlace group_of(const TileGrid& grid, const Tile& tile, bool exists) {
  const auto lane = static_cast<std::uint32_t>(lane_index());
  const std::uint32_t block = tile.first_block + lane;
  const std::uint32_t group = grid.by_group_blocks.quotient(block);
  const bool first = group * grid.by_group_blocks.value == block;
  return {exists && (first || lane == 0), tile.interval * grid.interval_groups + group};
}

/// By all lanes of a warp. `before`: sum over the tile's blocks before the lane's, read where
/// `starts`; `all`: sum over all of them.
__device__ inline void add_to_groups(const CodeTilesArgs& a, const GroupPlace& place,
                                     std::uint32_t before, std::uint32_t all) {
  const std::uint32_t starts = __ballot_sync(kFullWarp, place.starts);
  const std::uint32_t behind = starts & ~(0xFFFFFFFFu >> (31 - lane_index()));
  const int next = behind != 0 ? __ffs(static_cast<int>(behind)) - 1 : 0;
  const std::uint32_t end = __shfl_sync(kFullWarp, before, next);
  if (place.starts)
    atomicAdd(a.group_sums + blockIdx.y * a.grid.groups + place.group,
              (behind != 0 ? end : all) - before);
}

/// Adds the pairs of the tile to the groups: all items but the ends of blocks.
__device__ inline void add_pairs(const CodeTilesArgs& a, const GroupPlace& place, const Coded& b,
                                 const Sums& items) {
  const std::uint32_t ends = __ballot_sync(kFullWarp, b.exists());
  const auto before = static_cast<std::uint32_t>(__popc(ends & ((1u << lane_index()) - 1)));
  const auto all = static_cast<std::uint32_t>(__popc(ends));
  add_to_groups(a, place, (items.before - before) << 16, (items.total - all) << 16);
}

/// Bits of the tile before the lane's block, whose first item is `item`; right where the block
/// starts a group. Each lane codes `each` items, whose bits are in `bits`.
__device__ inline std::uint32_t bits_before_block(const GroupPlace& place, SharedAddress items,
                                                  SharedAddress codes, std::uint32_t item,
                                                  std::uint32_t each, const Sums& bits) {
  const std::uint32_t coder = place.starts ? item / each : 0;
  CountingWriter counting{__shfl_sync(kFullWarp, bits.before, static_cast<int>(coder))};
  if (place.starts)
    for (std::uint32_t i = coder * each; i < item; ++i) {
      const Item coded{load_word(items, i)};
      const int before = i > 0 ? Item{load_word(items, i - 1)}.place() : 0;
      code_item(coded, row_at(codes, coded, distance_of(coded, before)), codes, far_row(codes),
                counting);
    }
  return counting.at;
}

}  // namespace zerorun::cuda_encode
