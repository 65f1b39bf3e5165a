// The values of the pixel under the mouse.
// SPDX-License-Identifier: MIT
#pragma once

#include <SDL.h>

#include <cstdint>
#include <optional>
#include <string>

#include "apps/play/decode_ahead.hpp"

namespace zerorun::app {

/// What a line about a pixel needs besides the frame.
struct ProbePlace {
  SDL_Point pixel{0, 0};
  double zoom = 1.0;        ///< pixels of the window for a pixel of the picture
  bool may_decode = false;  ///< the frame stands still, so that there is time to decode it again
};

/// The player keeps pictures as the screen needs them: 4:2:2 and others are RGB. The stored YCbCr
/// values come from decoding the frame again, once, while it stands still.
class Probe {
 public:
  /// "x 12 y 40  400 %  YCbCr 81 90 240  RGB 254 0 0"
  std::string text(const PlayFrame& frame, const ProbePlace& place);

 private:
  std::optional<ConstFrameView> stored(const PlayFrame& frame, bool may_decode);

  Frame again_;  // of frame `index_`, in the format of the stream
  std::int64_t index_ = -1;
  bool is_broken_ = false;  // decoding frame `index_` again failed
};

}  // namespace zerorun::app
