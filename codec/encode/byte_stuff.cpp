// CPU reference of byte stuffing. CUDA twin: cuda/stages/byte_stuff.cu.
// SPDX-License-Identifier: MIT
#include "codec/encode/byte_stuff.hpp"

#include "codec/base/marker.hpp"

namespace zerorun {

Status byte_stuff_cpu(const ByteStuffArgs& a, Exec&) {
  std::uint8_t* out = a.out;
  for (std::int64_t i = 0; i < a.intervals; ++i) {
    for (std::uint64_t at = a.interval_first_byte[i]; at < a.interval_first_byte[i + 1]; ++at) {
      *out++ = a.bytes[at];
      if (a.bytes[at] == 0xFF) *out++ = 0;
    }
    const std::int64_t interval = a.first_interval + i;
    if (interval + 1 < a.scan_intervals) {
      *out++ = 0xFF;
      *out++ = static_cast<std::uint8_t>(marker::kRst0 + interval % 8);
    }
  }
  *a.out_bytes = static_cast<std::uint64_t>(out - a.out);
  return Status::ok();
}

}  // namespace zerorun
