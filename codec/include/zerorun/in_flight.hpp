// Frames in flight: what AsyncEncoder and AsyncDecoder say when they are asked for a frame.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace zerorun {

enum class Received : std::uint8_t {
  frame,
  not_yet,  ///< the oldest frame is not finished, or none is in flight
  end,      ///< finish() was called and every frame was received
};

}  // namespace zerorun
