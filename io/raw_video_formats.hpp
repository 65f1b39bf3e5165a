// The formats of video without headers.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "zerorun/frame.hpp"
#include "zerorun/status.hpp"

namespace zerorun::io {

struct RawFormat {
  std::string_view name;  // FFmpeg's
  PixelFormat format;
  bool full_range;
  int depth_bits = 8;  // more: 16 bits little-endian for each sample
  int alpha_at = -1;   // of RGB: the byte of a pixel that is alpha
};

/// `for_output` is for the message alone. Errors: invalid_argument (no such format).
Result<RawFormat> find_raw_format(const std::string& name, bool for_output);

}  // namespace zerorun::io
