// One frame on its way from the input to the screen.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "zerorun/decoder.hpp"
#include "zerorun/frame.hpp"

namespace zerorun::app {

/// In which format pictures are wanted.
enum class Pixels {
  shown,   ///< yuv420p and gray8 as they are, all else as bgrx32
  stored,  ///< as the input has them
  rgb,     ///< bgrx32
};

struct PlayFrame {
  std::string name;
  std::vector<std::byte> jpeg;  ///< as it is in the input; empty where that is no JPEG
  Frame frame;
  std::int64_t index = 0;  ///< in the input, counted from 0
  std::int64_t pts = 0;    ///< in the input's time base
  double at = 0.0;         ///< seconds after the first frame
  double duration = 0.0;   ///< seconds
  double decode_ms = 0.0;  ///< 0 where it came decoded
  DecodeReport report;
  Status problem;  ///< why there is no picture
};

}  // namespace zerorun::app
