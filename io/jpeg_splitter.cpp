// Cuts a stream of concatenated JPEG images at SOI and EOI.
// SPDX-License-Identifier: MIT
#include "io/jpeg_splitter.hpp"

#include <algorithm>
#include <cstring>
#include <string>

namespace zerorun::io {
namespace {

// T.81 Table B.1
constexpr int kTem = 0x01, kRst0 = 0xD0, kRst7 = 0xD7, kSoi = 0xD8, kEoi = 0xD9;

constexpr bool stands_alone(int marker) noexcept {
  return marker == kTem || (marker >= kRst0 && marker <= kRst7);
}

}  // namespace

/// Skips to the next FF D8 FF and leaves it unread. FF D8 alone is common in noise, and another
/// marker has to follow SOI (T.81 B.2.1).
bool JpegSplitter::find_start() {
  for (;;) {
    const std::span<const std::byte> three = reader_.peek(3);
    if (three.size() < 3) {
      skipped_ += static_cast<std::int64_t>(three.size());
      reader_.consume(three.size());
      return false;
    }
    if (three[0] == std::byte{0xFF} && three[1] == std::byte{kSoi} && three[2] == std::byte{0xFF})
      return true;
    const std::span<const std::byte> rest = reader_.buffered();
    const void* found = std::memchr(rest.data() + 1, 0xFF, rest.size() - 1);
    const std::size_t junk =
        found == nullptr
            ? rest.size()
            : static_cast<std::size_t>(static_cast<const std::byte*>(found) - rest.data());
    reader_.consume(junk);
    skipped_ += static_cast<std::int64_t>(junk);
  }
}

/// Copies the data up to and including the next marker with a segment, or EOI. Returns its code, or
/// -1 at the end. SOI is left unread: it begins another image.
int JpegSplitter::next_marker(std::vector<std::byte>& jpeg) {
  for (;;) {
    const std::span<const std::byte> part = reader_.buffered();
    if (part.empty()) return -1;
    const auto* found = static_cast<const std::byte*>(std::memchr(part.data(), 0xFF, part.size()));
    if (found == nullptr) {
      jpeg.insert(jpeg.end(), part.begin(), part.end());
      reader_.consume(part.size());
    } else {
      const auto before = static_cast<std::size_t>(found - part.data());
      jpeg.insert(jpeg.end(), part.begin(), part.begin() + static_cast<std::ptrdiff_t>(before));
      reader_.consume(before);
      const std::span<const std::byte> two = reader_.peek(2);
      if (two.size() < 2) {
        jpeg.insert(jpeg.end(), two.begin(), two.end());
        reader_.consume(two.size());
        return -1;
      }
      const int code = static_cast<int>(two[1]);
      if (code == kSoi) return kSoi;
      jpeg.push_back(two[0]);
      reader_.consume(1);
      if (code != 0xFF) {  // FF is a fill byte (B.1.1.2): go on with the next FF
        jpeg.push_back(two[1]);
        reader_.consume(1);
        if (code != 0x00 && !stands_alone(code)) return code;
      }
    }
    if (jpeg.size() > kMaxImageBytes) return -1;
  }
}

/// Copies a segment's length and body; false if the data ends before.
bool JpegSplitter::copy_segment(std::vector<std::byte>& jpeg) {
  const std::span<const std::byte> two = reader_.peek(2);
  if (two.size() < 2) return true;  // the marker search then finds the end
  const std::size_t length =
      (static_cast<std::size_t>(two[0]) << 8) | static_cast<std::size_t>(two[1]);
  if (length < 2) return true;  // damaged: the decoder names it; search for markers here
  const std::size_t at = jpeg.size();
  jpeg.resize(at + length);
  const std::size_t got = reader_.read(std::span(jpeg).subspan(at));
  jpeg.resize(at + got);
  return got == length;
}

Result<bool> JpegSplitter::next(std::vector<std::byte>& jpeg) {
  jpeg.clear();
  if (!find_start()) {
    if (!reader_.error()) return reader_.error();
    return false;
  }
  image_offset_ = reader_.offset();
  const std::span<const std::byte> soi = reader_.peek(2);
  jpeg.assign(soi.begin(), soi.end());
  reader_.consume(2);
  for (;;) {
    const int marker = next_marker(jpeg);
    if (jpeg.size() > kMaxImageBytes)
      return Status(Errc::bad_input, "'" + reader_.name() + "': the image at byte " +
                                         std::to_string(image_offset_) + " has no end within " +
                                         std::to_string(kMaxImageBytes >> 20) + " MiB");
    if (marker == kEoi || marker == kSoi) return true;
    if (marker < 0 || !copy_segment(jpeg)) break;
  }
  if (!reader_.error()) return reader_.error();
  return true;
}

}  // namespace zerorun::io
