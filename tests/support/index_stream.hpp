// Makes streams with an index of their scan from streams without one, with the CPU decoder.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "codec/syntax/scan_index.hpp"

namespace zerorun::test {

/// A stream with an index, its place and its entries.
struct IndexedStream {
  std::vector<std::byte> jpeg;
  ScanIndexPlace place{};
  std::vector<IndexEntry> entries;

  /// Replaces the entries.
  void set(std::span<const IndexEntry> others);
};

/// Empty if the stream has several scans or is damaged, or if groups would be too large.
std::optional<IndexedStream> with_index(std::span<const std::byte> jpeg, int group_mcus);

}  // namespace zerorun::test
