// The frames of a case: a few pictures of one size in host memory, as every coder can read them.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "zerorun/io.hpp"

namespace zerorun::app::bench {

/// A frame whose memory holds whole MCUs, edges repeated: libjpeg's raw data needs them.
class PaddedFrame {
 public:
  static Result<PaddedFrame> create(PixelFormat format, int width, int height);
  static Result<PaddedFrame> copy_of(const ConstFrameView& frame);

  FrameView view() noexcept { return view_; }
  ConstFrameView view() const noexcept { return view_; }

 private:
  void repeat_edges() noexcept;

  Frame memory_;
  FrameView view_;
};

struct FrameSet {
  std::string input;
  std::vector<PaddedFrame> frames;

  ConstFrameView view(std::size_t i) const { return frames[i].view(); }
  std::size_t size() const noexcept { return frames.size(); }
  double raw_bytes() const;  ///< of one frame, without padding
};

/// Copies the samples of a frame of the same format and size.
void copy_samples(const ConstFrameView& from, const FrameView& to) noexcept;

/// Bytes of the samples of one frame.
std::size_t frame_bytes(PixelFormat format, int width, int height) noexcept;

/// Reads at most `count` frames of `input` (a file, a sequence, or synthetic:WxH:KIND) in `format`.
/// Ends the command (exit 3) where there is none.
FrameSet load_frames(const std::string& input, PixelFormat format, std::size_t count);

}  // namespace zerorun::app::bench
