// Frames to sRGB by the profiles of their pictures.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "zerorun/content.hpp"
#include "zerorun/convert.hpp"

namespace zerorun::app {

/// Keeps the converter of the profile used last: pictures of a sequence have the same. Thread-safe.
class ToSrgb {
 public:
  /// Converts a frame of rgb24 or gray8 in place. Errors: those of ProfileConverter::create().
  Status convert(const io::PictureContent& content, const FrameView& frame);

 private:
  Result<io::ProfileConverter> converter(const std::vector<std::uint8_t>& icc, PixelFormat format);

  std::mutex mutex_;
  std::vector<std::uint8_t> icc_;
  PixelFormat format_ = PixelFormat::rgb24;
  std::optional<io::ProfileConverter> converter_;
};

}  // namespace zerorun::app
