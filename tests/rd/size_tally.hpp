// How near streams come to the sizes that were asked for: counted by `zerorun bench --exact-size`
// and by the harness in tests/rd.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <vector>

#include "zerorun/encoder.hpp"

namespace zerorun::rd {

struct SizeTally {
  long streams = 0, above = 0, within = 0, codings = 0, most_codings = 0;
  double seconds = 0;  ///< of all streams
  double bits = 0;     ///< that were asked for
  /// Of the streams' bytes, in their order; it differs between runs of the program.
  std::size_t hash = 0;

  void add(const SizeTally& other);
};

/// Sizes from that of one quality to that of another, in equal ratios.
struct SizeRange {
  int least_quality = 20, most_quality = 97;
  int count = 20;
};

/// Codes a frame to each size of the range, and counts the streams above it and those that have at
/// most 0.5 % less. A picture that cannot be so small counts as neither. Errors: those of Encoder.
Result<std::vector<SizeTally>> try_sizes(const EncodeParams& params, const ConstFrameView& frame,
                                         const SizeRange& range = {});

}  // namespace zerorun::rd
