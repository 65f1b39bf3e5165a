// The header of a PNM image, and the numbers of its text kinds.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "io/byte_reader.hpp"
#include "zerorun/frame.hpp"

namespace zerorun::io {

struct PnmHeader {
  int kind = 6;  // the digit after P: 1 and 4 bits, 2 and 5 grey, 3 and 6 RGB; 1 to 3 are text
  int width = 0, height = 0;
  int max_value = 255;  // 1 to 65535

  bool is_text() const noexcept { return kind <= 3; }
  bool is_bitmap() const noexcept { return kind == 1 || kind == 4; }
  int channels() const noexcept { return kind == 3 || kind == 6 ? 3 : 1; }
  /// Of the binary kinds.
  std::uint64_t row_bytes() const noexcept {
    const auto samples = static_cast<std::uint64_t>(width) * static_cast<std::uint64_t>(channels());
    if (is_bitmap()) return (samples + 7) / 8;
    return samples * (max_value > 255 ? 2 : 1);
  }
  std::uint64_t sample_bytes() const noexcept {
    return row_bytes() * static_cast<std::uint64_t>(height);
  }
  PixelFormat format() const noexcept {
    return channels() == 3 ? PixelFormat::rgb24 : PixelFormat::gray8;
  }
};

/// Leaves the reader at the next byte that is neither a blank nor part of a comment.
void skip_blanks(ByteReader& reader);

/// The next number of a header or text image; -1 if there is none or it is over 65535.
int read_number(ByteReader& reader);

/// The next 0 or 1 of a text bitmap, where blanks between digits are optional; else -1.
int read_bit(ByteReader& reader);

/// Reads up to the first sample. A header may lie about its size: it is an error if the file cannot
/// hold the samples, so that nothing is allocated for them.
/// Errors: bad_input, too_many_pixels, read_failed.
Result<PnmHeader> read_pnm_header(ByteReader& reader);

/// The error of an image whose samples end too early.
Status pnm_cut_short(const ByteReader& reader);

}  // namespace zerorun::io
