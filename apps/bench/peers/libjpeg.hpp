// libjpeg-turbo, memory to memory with objects kept between frames: a peer, and the decoder that
// checks streams. Planes go in and out raw (jpeg_write_raw_data), RGB by scanlines; JDCT_ISLOW.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "apps/bench/frames/frame_set.hpp"
#include "apps/bench/measure/runner.hpp"

namespace zerorun::app::bench {

class LibjpegDecoder {
 public:
  virtual ~LibjpegDecoder() = default;
  /// `out` is padded to whole MCUs. A warning of libjpeg is an error here.
  virtual Status decode(std::span<const std::byte> jpeg, const FrameView& out) = 0;
};

// Null in a build without libjpeg, where libjpeg.cpp is not linked.
[[gnu::weak]] std::string libjpeg_version();  ///< "libjpeg-turbo 2.1.5"
[[gnu::weak]] std::unique_ptr<LibjpegDecoder> make_libjpeg_decoder();
[[gnu::weak]] std::unique_ptr<Runner> make_libjpeg_encoder(const Case& what, const FrameSet& set);

inline bool have_libjpeg() noexcept { return libjpeg_version != nullptr; }

/// What libjpeg-turbo and nvJPEG code: planar YCbCr, rgb24 and bgr24.
inline bool is_planar_or_rgb(PixelFormat format) noexcept {
  return is_planar_yuv(format) || format == PixelFormat::rgb24 || format == PixelFormat::bgr24;
}

}  // namespace zerorun::app::bench
