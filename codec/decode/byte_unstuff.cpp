// CPU reference of unstuffing. CUDA twin: cuda/stages/byte_unstuff.cu.
// SPDX-License-Identifier: MIT
#include "codec/decode/byte_unstuff.hpp"

#include <cstring>

#include "codec/syntax/marker.hpp"

namespace zerorun {

Status byte_unstuff_cpu(const ByteUnstuffArgs& a, Exec&) {
  const std::uint8_t* in = a.in;
  const std::uint8_t* const end = a.in + a.in_bytes;
  std::uint8_t* out = a.bytes;
  EntropySegment* segment = a.segments;
  const auto open_segment = [&] {
    *segment = {static_cast<std::uint64_t>(out - a.bytes), static_cast<std::uint64_t>(in - a.in),
                0};
  };
  open_segment();
  const std::uint8_t* stop = end;  // of the terminating marker's FF
  while (in < end) {
    const auto left = static_cast<std::size_t>(end - in);
    const auto* ff = static_cast<const std::uint8_t*>(std::memchr(in, 0xFF, left));
    const std::size_t run = ff == nullptr ? left : static_cast<std::size_t>(ff - in);
    std::memcpy(out, in, run);
    out += run;
    in += run;
    if (ff == nullptr) break;
    while (in < end && *in == 0xFF) ++in;
    if (in == end) break;  // a lone FF at the end is no data
    const std::uint8_t code = *in++;
    if (code == 0) {
      *out++ = 0xFF;
    } else if (marker::is_rst(code)) {
      segment->marker = code;
      ++segment;
      open_segment();
    } else {
      stop = in - 2;
      break;
    }
  }
  *a.segment_total = static_cast<std::uint64_t>(segment - a.segments) + 1;
  *a.consumed_bytes = static_cast<std::uint64_t>(stop - a.in);
  segment[1] = {static_cast<std::uint64_t>(out - a.bytes), *a.consumed_bytes, 0};
  return Status::ok();
}

}  // namespace zerorun
