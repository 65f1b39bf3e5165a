// CPU reference of unstuffing. CUDA twin: cuda/stages/byte_unstuff.cu.
// SPDX-License-Identifier: MIT
#include "codec/decode/byte_unstuff.hpp"

#include <algorithm>

#include "codec/base/marker.hpp"

namespace zerorun {

std::size_t entropy_end(std::span<const std::uint8_t> data) {
  std::size_t at = 0;
  while (at < data.size()) {
    at += coded_bytes(std::as_bytes(data.subspan(at)));
    for (const std::size_t end = std::min(at + kCodedBlock, data.size()); at < end;) {
      if (data[at++] != 0xFF) continue;
      while (at < data.size() && data[at] == 0xFF) ++at;
      if (at == data.size()) break;
      const std::uint8_t code = data[at++];
      if (code != 0 && !marker::is_rst(code)) return at - 2;
    }
  }
  return data.size();
}

Status byte_unstuff_cpu(const ByteUnstuffArgs& a, Exec&) {
  std::uint8_t* out = a.bytes;
  EntropySegment* segment = a.segments;
  *segment = {0, 0, 0};
  std::uint64_t stop = a.in_bytes;  // of the terminating marker's FF
  for (std::uint64_t at = 0; at < a.in_bytes;) {
    const std::uint8_t byte = a.in[at++];
    if (byte != 0xFF) {
      *out++ = byte;
      continue;
    }
    while (at < a.in_bytes && a.in[at] == 0xFF) ++at;  // fill bytes
    if (at == a.in_bytes) break;                       // a lone FF at the end is no data
    const std::uint8_t code = a.in[at++];
    if (code == 0) {
      *out++ = 0xFF;
    } else if (marker::is_rst(code)) {
      segment->marker = code;
      *++segment = {static_cast<std::uint64_t>(out - a.bytes), at, 0};
    } else {
      stop = at - 2;
      break;
    }
  }
  *a.segment_total = static_cast<std::uint64_t>(segment - a.segments) + 1;
  *a.consumed_bytes = stop;
  segment[1] = {static_cast<std::uint64_t>(out - a.bytes), stop, 0};
  return Status::ok();
}

}  // namespace zerorun
