// A frame between the input and the screen.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "zerorun/decoder.hpp"
#include "zerorun/frame.hpp"

namespace zerorun::app {

/// The pixel format that the player asks for.
enum class Pixels {
  shown,   ///< yuv420p and gray8 as they are, all others as bgrx32
  stored,  ///< as the input stores them
  rgb,     ///< bgrx32
};

struct PlayFrame {
  std::string name;
  std::vector<std::byte> jpeg;  ///< as it is in the input; empty if the input is no JPEG
  Frame frame;
  std::int64_t index = 0;  ///< in the input, counted from 0
  std::int64_t pts = 0;    ///< in the input's time base
  double at = 0.0;         ///< seconds after the first frame
  double duration = 0.0;   ///< seconds
  double decode_ms = 0.0;  ///< 0 if the input delivers decoded frames
  bool is_first = false;   ///< after the start or a seek: shown even if it is late
  DecodeReport report;
  Status problem;  ///< why there is no picture
};

}  // namespace zerorun::app
