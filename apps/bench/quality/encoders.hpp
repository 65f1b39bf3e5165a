// The encoders whose curves are measured: modes of zerorun, and libraries beside it.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "apps/bench/frames/frame_set.hpp"
#include "apps/bench/measure/coder.hpp"

namespace zerorun::app::bench {

struct CurveEncoder {
  std::string name;                         ///< "zerorun --tune photo"
  std::string huffman;                      ///< "standard", "trained" or "optimal"
  PixelFormat pixels = PixelFormat::rgb24;  ///< of the frames that it takes
  bool planar = false;                      ///< it takes planes of the stream's sampling instead
  /// Encodes the only frame of a set at the quality and sampling of the case.
  std::function<Result<std::vector<std::byte>>(Case what, const FrameSet& frames)> encode;
};

/// The first two are libjpeg-turbo with standard and with optimal tables, or zerorun's exact mode,
/// which has the same bytes, in a build without it. Those that are left out become notes.
std::vector<CurveEncoder> curve_encoders(bool peers, std::vector<std::string>& notes);

}  // namespace zerorun::app::bench
