// libjpeg-turbo as the peer of the benchmark: objects kept between frames, memory to memory.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "zerorun/frame.hpp"

namespace zerorun::bench {

struct PeerOptions {
  int quality = 90;
  bool optimal = false;
  int restart_mcus = 0;
};

/// jpeg_write_raw_data (yuv420p) or jpeg_write_scanlines (rgb24, coded as 4:2:0), JDCT_ISLOW.
class LibjpegEncoder {
 public:
  explicit LibjpegEncoder(const PeerOptions& options);
  ~LibjpegEncoder();
  /// The stream lies in memory that the object keeps. Width and height are multiples of 16 for
  /// planes, or their rows are padded so far. Empty on failure.
  std::span<const std::byte> encode(const ConstFrameView& frame);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// jpeg_read_raw_data (yuv420p) or jpeg_read_scanlines (rgb24, fancy up-sampling), JDCT_ISLOW.
class LibjpegDecoder {
 public:
  LibjpegDecoder();
  ~LibjpegDecoder();
  /// The frame has room for whole MCUs: rows and stride rounded up to 16 (chroma 8).
  bool decode(std::span<const std::byte> jpeg, const FrameView& out);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace zerorun::bench
