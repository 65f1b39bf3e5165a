// Bytes of a stream's header that are known before its scan index is.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include "codec/syntax/scan_index.hpp"

namespace zerorun::fused {

/// Calls copy(from, to) for each run of bytes of [0, end) that are no index entries. The index lies
/// in front of `end`.
template <typename Copy>
__device__ void without_entries(const ScanIndexPlace& index, std::uint32_t end, const Copy& copy) {
  std::uint32_t begin = 0;
  for (std::uint32_t g = 0; g < index.groups; g += kIndexSegmentEntries) {
    const std::uint32_t here = min(index.groups - g, std::uint32_t{kIndexSegmentEntries});
    const auto first = static_cast<std::uint32_t>(index_entry_offset(index, g));
    copy(begin, first);
    begin = first + here * static_cast<std::uint32_t>(kIndexEntryBytes);
  }
  copy(begin, end);
}

}  // namespace zerorun::fused
