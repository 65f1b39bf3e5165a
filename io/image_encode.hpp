// One frame as the bytes of an image file.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "io/frame_convert.hpp"
#include "zerorun/frame.hpp"

namespace zerorun::io {

/// True for the formats that this build can write: pgm, ppm, pnm, and with OpenCV png, tif(f), bmp,
/// webp.
bool is_image_output(const std::string& format);
/// True for those of them that need OpenCV, whether it was built or not.
bool needs_opencv(const std::string& format);

class ImageEncoder {
 public:
  explicit ImageEncoder(std::string format) : format_(std::move(format)) {}

  /// gray8 or rgb24: pgm is always grey and ppm always RGB, the others follow the frame.
  PixelFormat wanted_format(PixelFormat native) const noexcept;
  /// Errors: invalid_frame, out_of_memory, unsupported_output, not_built.
  Status encode(const ConstFrameView& frame, std::vector<std::byte>& out);

 private:
  std::string format_;
  FrameConverter converter_;
  Frame converted_;
};

}  // namespace zerorun::io
