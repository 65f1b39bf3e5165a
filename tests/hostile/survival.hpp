// What a stream that nobody vouches for does to the decoder.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "zerorun/decoder.hpp"

namespace zerorun::test {

/// Results and cost of one stream. Coefficients and planes as far as the call delivered them.
struct Outcome {
  Status status;        ///< of decode_coefficients
  DecodeReport report;  ///< valid if status is ok
  std::vector<ComponentCoefficients> coefficients;
  std::vector<ComponentPlane> planes;
  double seconds = 0;            ///< processor time of one decode_planes
  std::size_t memory_bytes = 0;  ///< growth of the resident set by one decode_planes

  bool delivered() const noexcept { return status.is_ok(); }
  bool concealed() const noexcept { return delivered() && report.is_concealed(); }
  /// Delivered, and nothing at all to remark.
  bool clean() const noexcept { return delivered() && report.first_problem.is_ok(); }
};

inline constexpr double kMaxSeconds = 1.0;
inline constexpr std::size_t kMaxMemoryBytes = std::size_t{256} << 20;

/// Decodes from memory that ends at a page's end, on one thread and on three, into planes,
/// coefficients and, for pictures of moderate size, pixel formats with two different fillings;
/// strict too. Everything that must agree is asserted to agree, and cost to stay in its limits.
Outcome survive(std::span<const std::byte> jpeg, const std::string& label);

}  // namespace zerorun::test
