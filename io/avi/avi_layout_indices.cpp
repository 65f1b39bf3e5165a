// The indices of an AVI file that is written.
// SPDX-License-Identifier: MIT
#include <cstdint>

#include "io/avi/avi_layout.hpp"
#include "io/avi/riff.hpp"

namespace zerorun::io {
namespace {

constexpr std::uint32_t kKeyFrame = 0x10;

}  // namespace

std::vector<std::byte> avi_index_chunk(const AviSegment& segment,
                                       const std::vector<AviChunkPlace>& places) {
  riff::Builder out;
  const std::size_t chunk = out.open("ix00");
  out.u16(2);       // words an entry
  out.u16(0x0100);  // of chunks
  out.u32(places.size());
  out.text(kAviPicture);
  out.u64(static_cast<std::uint64_t>(segment.movi));
  out.u32(0);
  for (const AviChunkPlace& place : places) {
    out.u32(place.offset);
    out.u32(place.bytes);
  }
  out.close(chunk);
  return out.bytes();
}

std::vector<std::byte> avi_first_index(const std::vector<AviChunkPlace>& places) {
  riff::Builder out;
  const std::size_t chunk = out.open("idx1");
  for (const AviChunkPlace& place : places) {
    out.text(kAviPicture);
    out.u32(kKeyFrame);
    out.u32(place.offset - 4 - riff::kHeaderBytes);
    out.u32(place.bytes);
  }
  out.close(chunk);
  return out.bytes();
}

}  // namespace zerorun::io
