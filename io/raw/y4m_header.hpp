// Parses and writes the header line of YUV4MPEG2 (mjpegtools, yuv4mpeg(5)).
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "zerorun/content.hpp"
#include "zerorun/frame.hpp"

namespace zerorun::io {

struct Y4mHeader {
  int width = 0, height = 0;
  Rational frame_rate;  ///< 0/1 if the stream says 0:0
  Rational sample_aspect{1, 1};
  PixelFormat format = PixelFormat::yuv420p;
  int depth_bits = 8;
  bool has_alpha = false;  ///< a fourth plane follows, which is dropped
  bool full_range = false;
  char interlace = 'p';  ///< p, t, b, m or ? (the I tag)

  std::uint64_t plane_bytes(int plane) const noexcept;  ///< plane 3 is alpha
  std::uint64_t frame_bytes() const noexcept;
};

/// `line` is the first line without its line feed. Errors: bad_input, too_many_pixels.
Result<Y4mHeader> parse_y4m_header(std::string_view line);

/// The line with its line feed: 8 bits, full range; the format is planar YCbCr or grey.
std::string write_y4m_header(const Y4mHeader& header);

}  // namespace zerorun::io
