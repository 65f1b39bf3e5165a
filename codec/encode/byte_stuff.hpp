// Encode stage 7: bytes -> entropy-coded segment (T.81 B.1.1.5, F.1.2.3). Inverse: byte_unstuff.
// SPDX-License-Identifier: MIT
#pragma once

#include "codec/base/exec.hpp"

namespace zerorun {

/// Puts 00 after every FF, and RSTm between two intervals; m counts from the start of the scan.
struct ByteStuffArgs {
  const std::uint8_t* bytes;
  const std::uint64_t* interval_first_byte;  ///< [intervals + 1]
  std::int64_t intervals;
  std::int64_t first_interval;  ///< index in the scan of the first one
  std::int64_t scan_intervals;  ///< in the whole scan: no marker follows the last
  std::uint8_t* out;            ///< capacity out_capacity
  std::int64_t out_capacity;    ///< at least max_stuffed_bytes()
  std::uint64_t* out_bytes;     ///< one number, out
};

constexpr std::int64_t max_stuffed_bytes(std::int64_t bytes, std::int64_t intervals) {
  return 2 * bytes + 2 * intervals;
}

Status byte_stuff_cpu(const ByteStuffArgs& args, Exec& exec);
Status byte_stuff_cuda(const ByteStuffArgs& args, Exec& exec);

}  // namespace zerorun
