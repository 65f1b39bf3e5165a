// Groups of MCUs, decoded on the host as decode_groups() does it.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cuda/decode/group_walk.hpp"
#include "tests/cuda/decode/host_scan.hpp"

namespace zerorun::test {

/// What a group's decoding stored.
struct StoredGroup {
  std::vector<HostPair> pairs;
  std::vector<std::uint32_t> first_pair;  ///< of each block, and of the one after the last
  GroupEnd end{};
  bool in_order = true;
};

/// decode_group(), with `pair` as the number of the first pair.
StoredGroup decode_stored(std::span<const std::uint32_t> words, const HostTables& tables,
                          const GroupSpan& span, std::uint32_t pair);

/// The first promise that decoding a group broke, whatever its bits are, or null.
const char* broken_promise(const StoredGroup& group, const GroupSpan& span);

/// The index of a sound scan, by the CPU's decoder.
HostIndex true_index(const CleanScan& scan, int group_mcus);

/// What the groups of an index give. Levels if each is as the index says.
struct GroupScan {
  bool as_said = true;
  ScanLevels levels;
  const char* broken = nullptr;
};
/// `index` need not be right, but has the scan's number of groups.
GroupScan decode_by_index(const CleanScan& scan, const HostTables& tables,
                          std::span<const std::uint32_t> words, const HostIndex& index);

/// Decodes `blocks` blocks as a subsequence does, one symbol after the other.
StoredPairs decode_blocks(std::span<const std::uint32_t> words, const HostTables& tables,
                          std::uint32_t blocks, PairTarget target, Walk& walk);

}  // namespace zerorun::test
