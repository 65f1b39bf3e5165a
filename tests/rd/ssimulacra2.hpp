// SSIMULACRA2 (Cloudinary, 2022; version 2.1): 100 is no difference, 90 hardly a visible one.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <vector>

#include "tests/rd/image.hpp"
#include "tests/rd/score_sums.hpp"

namespace zerorun::rd {

/// A picture with a side below this has fewer scales. The weights then belong to other features, as
/// in the reference implementation: scores of such pictures mean something else.
inline constexpr int kSsimulacra2Side = 256;

/// Keeps what depends on the original alone.
class Ssimulacra2 {
 public:
  explicit Ssimulacra2(const Image& original);
  /// Adds the errors of a picture, which has the size of the original.
  void add(const Image& distorted, ScoreSums& sums) const;

 private:
  struct Scale {
    std::array<Plane, 3> xyb, mean, square;  // the last two are blurred
  };
  std::vector<Scale> scales_;
};

}  // namespace zerorun::rd
