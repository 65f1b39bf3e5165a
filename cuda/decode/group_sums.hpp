// Sums over the groups of a scan's index, from which the place of each group follows. Host code
// too, so that a test can run it without a device.
//
// The index is not trusted. If sums get too large for their field, the first of them belongs to a
// group that place_group() rejects, since all sums before it are exact. The sums after it then do
// not matter.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "codec/syntax/scan_index.hpp"
#include "cuda/decode/subsequence_walk.hpp"

namespace zerorun {

/// Bits and pairs in one word of 62 bits, so that one addition adds both.
inline constexpr int kSumBitsShift = 31;
inline constexpr std::uint64_t kGroupSumMask = (std::uint64_t{1} << 2 * kSumBitsShift) - 1;

ZR_HD std::uint64_t pack_sum(std::uint32_t bits, std::uint32_t pairs) {
  return std::uint64_t{bits} << kSumBitsShift | pairs;
}
ZR_HD std::uint32_t bits_of_sum(std::uint64_t sum) {
  return static_cast<std::uint32_t>((sum & kGroupSumMask) >> kSumBitsShift);
}
ZR_HD std::uint32_t pairs_of_sum(std::uint64_t sum) {
  return static_cast<std::uint32_t>(sum & ((std::uint64_t{1} << kSumBitsShift) - 1));
}

/// Entry `i` of the index whose first entry is at `entries`.
ZR_HD std::uint64_t read_entry(const std::uint8_t* entries, std::uint32_t i) {
  const std::uint8_t* const at = entries + index_entry_offset({}, i);
  return pack_sum(std::uint32_t{at[0]} << 8 | at[1], std::uint32_t{at[2]} << 8 | at[3]);
}

/// The shape of a scan's groups.
struct GroupGrid {
  std::uint32_t groups;           ///< of the scan
  std::uint32_t group_blocks;     ///< blocks of every group but an interval's last
  std::uint32_t interval_blocks;  ///< blocks of every interval but the last
  std::uint32_t interval_groups;  ///< groups of every interval but the last
  std::uint32_t blocks;           ///< of the scan
};

inline GroupGrid make_group_grid(const ScanLayout& layout, int group_mcus) {
  const auto count = [](std::int64_t value) { return static_cast<std::uint32_t>(value); };
  const std::int64_t interval_mcus = layout.interval_mcus();
  return {count(index_groups(layout, group_mcus)), count(group_mcus * layout.blocks_per_mcu),
          count(interval_mcus * layout.blocks_per_mcu), count(ceil_div(interval_mcus, group_mcus)),
          count(layout.blocks())};
}

struct Group {
  std::uint32_t bit, stop, end;  ///< its first bit, the end of its last, its interval's end
  PairTarget first, behind;      ///< block and pair where it begins, and where it ends
  bool is_last;                  ///< of its interval's groups
};

/// Blocks before a group, given by its number in its interval.
ZR_HD std::uint32_t blocks_before(const GroupGrid& grid, std::uint32_t interval,
                                  std::uint32_t group) {
  const std::uint32_t before = interval * grid.interval_blocks + group * grid.group_blocks;
  return before < grid.blocks ? before : grid.blocks;
}

/// Computes the place of group `number` from `sums`, [groups + 1], and `interval_first`, [intervals
/// + 1] and ascending. Returns false if there can be no such group: it would leave its interval, or
/// its pairs would exceed `pair_capacity`.
ZR_HD bool place_group(const GroupGrid& grid, const std::uint64_t* sums,
                       const std::uint32_t* interval_first, std::uint32_t pair_capacity,
                       std::uint32_t number, Group& out) {
  const std::uint32_t interval = number / grid.interval_groups;
  const std::uint32_t first_of_interval = interval * grid.interval_groups;
  const std::uint64_t before = sums[number], own = sums[number + 1] - before;
  const std::uint32_t begin = interval_first[interval] * 8;
  const std::uint32_t offset = bits_of_sum(before - sums[first_of_interval]);
  const std::uint32_t bits = bits_of_sum(own), pairs = pairs_of_sum(own);
  const std::uint32_t first_block = blocks_before(grid, interval, number - first_of_interval);
  const std::uint32_t interval_end = blocks_before(grid, interval + 1, 0);
  const std::uint32_t block_behind = interval_end - first_block < grid.group_blocks
                                         ? interval_end
                                         : first_block + grid.group_blocks;
  out.end = interval_first[interval + 1] * 8;
  out.bit = begin + offset;
  out.stop = out.bit + bits;
  out.first = {first_block, pairs_of_sum(before)};
  out.behind = {block_behind, out.first.pair + pairs};
  out.is_last = block_behind == interval_end;
  const std::uint32_t length = out.end - begin;
  return offset <= length && bits <= length - offset && out.behind.pair <= pair_capacity;
}

/// Whether a group ended where it should: at `stop`, and in an interval's last group with less than
/// a byte of ones after it.
ZR_HD bool ends_well(const Group& group, std::uint32_t bit, std::uint32_t next32) {
  return bit == group.stop && (!group.is_last || is_padding(next32, group.end - group.stop));
}

}  // namespace zerorun
