// libjpeg-turbo, memory to memory with objects kept between frames: a peer, and the judge of every
// stream. Planes go in and out raw (jpeg_write_raw_data), RGB by scanlines; JDCT_ISLOW.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "apps/bench/result.hpp"

namespace zerorun::app::bench {

/// "libjpeg-turbo 2.1.5"; empty in a build without it.
std::string libjpeg_version();

/// Planar YCbCr, rgb24 and bgr24.
bool libjpeg_takes(PixelFormat format) noexcept;

class LibjpegEncoder {
 public:
  explicit LibjpegEncoder(const Case& what);
  ~LibjpegEncoder();
  /// The stream lies in memory that the object keeps until the next call. The frame is padded to
  /// whole MCUs (PaddedFrame).
  Status encode(const ConstFrameView& frame, std::span<const std::byte>& stream);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

class LibjpegDecoder {
 public:
  LibjpegDecoder();
  ~LibjpegDecoder();
  /// `out` is padded to whole MCUs. A warning of libjpeg's is an error here.
  Status decode(std::span<const std::byte> jpeg, const FrameView& out);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace zerorun::app::bench
