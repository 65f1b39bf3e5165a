// Converts any frame layout to any other, for sources and sinks, and measures the time of
// conversions.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>

#include "zerorun/frame.hpp"

namespace zerorun::io {

/// Measures from construction to destruction. Nested timers count once.
class ConvertTimer {
 public:
  ConvertTimer() noexcept;
  ~ConvertTimer();
  ConvertTimer(const ConvertTimer&) = delete;
  ConvertTimer& operator=(const ConvertTimer&) = delete;

 private:
  std::chrono::steady_clock::time_point start_;
};

/// Keeps its intermediate frames between calls. YCbCr <-> RGB by libjpeg's 16-bit fixed-point JFIF
/// equations. Box filters reduce chroma; a centred triangle filter enlarges it (repetition for
/// 4:1:1).
class FrameConverter {
 public:
  /// `out` is reshaped to the size of `in`. Errors: invalid_frame, out_of_memory.
  Status convert(const ConstFrameView& in, PixelFormat format, Frame& out);
  /// The same into memory of the right size and layout.
  Status convert(const ConstFrameView& in, const FrameView& out);

 private:
  Status to_planar(const ConstFrameView& in, Subsampling sampling, ConstFrameView& planar);

  Frame unpacked_, full_, resampled_;
};

/// What a thread needs to convert frames one after another.
struct ConvertedFrame {
  FrameConverter converter;
  Frame frame;
};

}  // namespace zerorun::io
