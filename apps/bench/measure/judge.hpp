// Who decodes a stream to tell what it is worth: libjpeg-turbo, which nobody here wrote, where it
// was found and takes the format; else zerorun's decoder on the CPU.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "apps/bench/frames/frame_set.hpp"
#include "apps/bench/peers/libjpeg_coder.hpp"
#include "apps/common/psnr.hpp"

namespace zerorun::app::bench {

/// What stands for infinity, so that files can hold it.
constexpr double kMostPsnr = 99.99;

/// Decodes one stream after another and adds up what differs from the source.
class Judge {
 public:
  /// `threads`: of zerorun's decoder on one frame, 0 for one a core.
  Status open(const ConstFrameView& like, int threads);
  Status add(std::span<const std::byte> jpeg, const ConstFrameView& source);

  const SquaredError& error() const noexcept { return error_; }
  std::string name() const { return own_ ? "zerorun" : "libjpeg-turbo"; }

 private:
  PaddedFrame decoded_;
  LibjpegDecoder libjpeg_;
  std::optional<Decoder> own_;
  SquaredError error_;
};

}  // namespace zerorun::app::bench
