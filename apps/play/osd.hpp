// The text of the information on the picture.
// SPDX-License-Identifier: MIT
#pragma once

#include <SDL.h>

#include <optional>
#include <string>

#include "apps/common/psnr.hpp"
#include "apps/play/playback.hpp"

namespace zerorun::app {

/// Frames per second over the last half second or more.
class RateMeter {
 public:
  double update(std::int64_t count);

 private:
  std::optional<Stopwatch> since_;  // of the first call, when there is a picture
  std::int64_t count_ = 0;
  double rate_ = 0.0;
};

class Osd {
 public:
  /// All lines of the information.
  std::string text(PlaySession& session, Playback& playback,
                   const std::optional<SquaredError>& error);

 private:
  RateMeter shown_, decoded_;
};

/// "0:01.240"
std::string time_text(double seconds);

/// "PSNR 41.20 dB (Y Cb Cr 40.10, 44.00, 44.20)"
std::string psnr_text(const SquaredError& error, PixelFormat format);

}  // namespace zerorun::app
