// CPU reference of byte stuffing. CUDA twin: cuda/stages/byte_stuff.cu.
// SPDX-License-Identifier: MIT
#include "codec/encode/byte_stuff.hpp"

#include <cstring>

#include "codec/syntax/marker.hpp"

namespace zerorun {

Status byte_stuff_cpu(const ByteStuffArgs& a, Exec&) {
  std::uint8_t* out = a.out;
  for (std::int64_t i = 0; i < a.intervals; ++i) {
    const std::uint8_t* in = a.bytes + a.interval_first_byte[i];
    const std::uint8_t* end = a.bytes + a.interval_first_byte[i + 1];
    while (in < end) {
      // FF is rare, about one byte in a hundred: copy up to the next one.
      const auto left = static_cast<std::size_t>(end - in);
      const auto* ff = static_cast<const std::uint8_t*>(std::memchr(in, 0xFF, left));
      const std::size_t run = ff == nullptr ? left : static_cast<std::size_t>(ff - in) + 1;
      std::memcpy(out, in, run);
      out += run;
      in += run;
      if (ff != nullptr) *out++ = 0;
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
