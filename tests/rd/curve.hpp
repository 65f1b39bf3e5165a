// Curves of rate and distortion, and the bytes that one saves beside another.
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "tests/rd/metrics.hpp"

namespace zerorun::rd {

/// The bytes of a stream's scan, and the scores of its decoded picture.
struct Point {
  double bytes = 0;
  Scores scores{};
};

using Curve = std::vector<Point>;  ///< of rising quality

/// Percent of the bytes of `base` that `other` saves at equal score: the mean over the scores that
/// both curves reach, of the logarithm of the bytes, linear between points. Nothing where the
/// curves have no scores in common.
std::optional<double> saved_percent(const Curve& base, const Curve& other, Metric metric);

/// Bytes of the only scan of a JPEG stream: behind the SOS segment, before EOI. 0: there is none.
double scan_bytes(std::span<const std::byte> jpeg);

}  // namespace zerorun::rd
