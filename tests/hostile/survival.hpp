// Decodes a stream that may be damaged in every way, and checks that all results agree.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "zerorun/decoder.hpp"

namespace zerorun::test {

/// Results and cost of one stream; coefficients and planes if they were delivered.
struct Outcome {
  Status status;        ///< of decode_coefficients
  DecodeReport report;  ///< valid if status is ok
  std::vector<ComponentCoefficients> coefficients;
  std::vector<ComponentPlane> planes;
  double seconds = 0;            ///< processor time of one decode_planes
  std::size_t memory_bytes = 0;  ///< growth of the resident set by one decode_planes

  bool delivered() const noexcept { return status.is_ok(); }
  bool concealed() const noexcept { return delivered() && report.is_concealed(); }
  /// Delivered, and the report names no problem.
  bool clean() const noexcept { return delivered() && report.first_problem.is_ok(); }
};

inline constexpr double kMaxSeconds = 1.0;
inline constexpr std::size_t kMaxMemoryBytes = std::size_t{256} << 20;

/// Decodes from memory that ends at the end of a page, on one thread and on three, also with
/// `strict`, into planes, coefficients and, for pictures of moderate size, pixel formats, over two
/// different fillings. Fails the test where results differ or the cost exceeds its limits.
Outcome survive(std::span<const std::byte> jpeg, const std::string& label);

}  // namespace zerorun::test
