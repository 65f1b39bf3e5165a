// Which scans a progressive frame has, and in which order (T.81 G.1.1).
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "codec/syntax/scan_layout.hpp"

namespace zerorun {

/// One scan: bits `al` and above, or with `ah` above 0 bit `al` alone, of the coefficients at
/// zig-zag indices `ss` to `se`. A scan of AC has one component (T.81 G.1.1.1.1).
struct ScanSpec {
  std::uint8_t components = 0;
  std::uint8_t component[kMaxDecodedComponents] = {};  ///< indices of the frame, rising
  std::uint8_t ss = 0, se = 0;
  std::uint8_t ah = 0, al = 0;

  bool is_dc() const { return ss == 0; }
  bool is_refinement() const { return ah > 0; }
  friend bool operator==(const ScanSpec&, const ScanSpec&) = default;
};

using ScanScript = std::vector<ScanSpec>;

/// libjpeg's jpeg_simple_progression(): for YCbCr ten scans, for other models 2 + 4 a component.
ScanScript simple_progression(int components, bool is_ycbcr);

}  // namespace zerorun
