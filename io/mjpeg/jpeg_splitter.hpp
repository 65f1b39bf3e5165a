// Cuts a stream of concatenated JPEG images (raw Motion JPEG) at SOI and EOI.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "io/base/byte_reader.hpp"

namespace zerorun::io {

/// True if a packet starts with SOI (T.81 B.2.1).
inline bool is_jpeg(std::span<const std::byte> packet) noexcept {
  return packet.size() >= 2 && packet[0] == std::byte{0xFF} && packet[1] == std::byte{0xD8};
}

/// The bytes before the SOI that begins the image of a packet: webcams put zeros or a second SOI in
/// front. 0 if the packet has none at all.
std::size_t bytes_before_image(std::span<const std::byte> packet) noexcept;

/// Skips marker segments by their length, so that a thumbnail in an APPn does not end the image.
/// Skips and counts bytes between images.
class JpegSplitter {
 public:
  explicit JpegSplitter(ByteReader reader) noexcept : reader_(std::move(reader)) {}

  /// The next image from SOI to EOI. An image without EOI ends at the next SOI or at the end of the
  /// data. False at the end.
  /// Errors: read_failed, bad_input for an "image" longer than kMaxImageBytes.
  Result<bool> next(std::vector<std::byte>& jpeg);
  /// The same without a copy: only its length. image_offset() tells where it is.
  Result<bool> next(std::uint64_t& bytes);

  /// Goes to the offset of an image.
  bool seek(std::uint64_t offset) { return reader_.seek(offset); }

  std::int64_t skipped_bytes() const noexcept { return skipped_; }
  /// Offset of the image that next() gave last.
  std::uint64_t image_offset() const noexcept { return image_offset_; }
  const ByteReader& reader() const noexcept { return reader_; }

  /// 4 bytes for each of the 2^27 pixels that StreamLimits allows: more than any photo takes.
  static constexpr std::size_t kMaxImageBytes = std::size_t{1} << 29;

 private:
  Result<bool> walk();
  bool find_start();
  int next_marker();
  bool pass_segment();
  void pass(std::size_t count);

  ByteReader reader_;
  std::vector<std::byte>* copy_ = nullptr;  // the image so far, if it is copied
  std::uint64_t bytes_ = 0;                 // of the image so far
  std::int64_t skipped_ = 0;
  std::uint64_t image_offset_ = 0;
};

}  // namespace zerorun::io
