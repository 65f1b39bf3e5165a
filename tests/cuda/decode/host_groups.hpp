// Groups of MCUs, decoded on the host.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cuda/decode/group_walk.hpp"
#include "tests/cuda/decode/host_subsequences.hpp"

namespace zerorun::test {

/// What a group's decoding stored.
struct StoredGroup {
  std::vector<std::uint32_t> pairs;
  std::vector<std::uint32_t> first_pair;  ///< of each block, and of the one after the last
  GroupEnd end{};
  bool in_order = true;
};

/// decode_group(), with `pair` as the number of the first pair.
StoredGroup decode_stored(std::span<const std::uint32_t> words, const HostTables& tables,
                          const GroupSpan& span, std::uint32_t pair);

/// Decodes `blocks` blocks as a subsequence does, one symbol after the other.
StoredPairs decode_blocks(std::span<const std::uint32_t> words, const HostTables& tables,
                          std::uint32_t blocks, PairTarget target, Walk& walk);

}  // namespace zerorun::test
