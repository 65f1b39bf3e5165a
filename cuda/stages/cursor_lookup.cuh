// Which cursor a row of sync points belongs to; for huffman_sync and huffman_decode.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "codec/arith/host_device.hpp"

namespace zerorun {

/// The last cursor whose rows start at `row` or before: cursors without rows share their start with
/// the next one. `first_row` is [cursors + 1] and ascending.
ZR_HD std::int64_t cursor_of_row(const std::int64_t* first_row, std::int64_t cursors,
                                 std::int64_t row) {
  std::int64_t low = 0, high = cursors;  // first_row[low] <= row < first_row[high]
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    if (first_row[middle] <= row) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace zerorun
