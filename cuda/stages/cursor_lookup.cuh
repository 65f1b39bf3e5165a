// Which cursor a subsequence belongs to; for huffman_sync and huffman_decode.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "codec/arith/host_device.hpp"

namespace zerorun {

/// The last cursor whose subsequences start at `sub` or before: a cursor without any shares its
/// start with the next one. `first_sub` is [cursors + 1] and ascending.
ZR_HD std::int64_t cursor_of_subsequence(const std::int64_t* first_sub, std::int64_t cursors,
                                         std::int64_t sub) {
  std::int64_t low = 0, high = cursors;  // first_sub[low] <= subsequence < first_sub[high]
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    if (first_sub[middle] <= sub) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace zerorun
