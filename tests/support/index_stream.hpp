// Streams with an index of their scan, made from streams without one by the CPU's decoder.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "codec/syntax/scan_index.hpp"

namespace zerorun::test {

/// A stream whose parser finds the index, and the entries that it has.
struct IndexedStream {
  std::vector<std::byte> jpeg;
  ScanIndexPlace place{};
  std::vector<IndexEntry> entries;

  /// Other entries in the same place.
  void set(std::span<const IndexEntry> others);
};

/// Nothing where the stream has several scans or is damaged, or groups would be too large.
std::optional<IndexedStream> with_index(std::span<const std::byte> jpeg, int group_mcus);

}  // namespace zerorun::test
