// Legal streams that few encoders make: every sampling, several scans, 16-bit tables.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <string>
#include <vector>

#include "tests/support/jpeg_segments.hpp"
#include "tests/support/libjpeg_encode.hpp"

namespace zerorun::test {

using Factors = std::array<SamplingFactors, 3>;

/// "2x2,1x1,1x1"
std::string to_string(const Factors& factors);

/// Sampling factors with at most 10 blocks in an MCU (T.81 B.2.3), common and odd.
std::vector<Factors> all_factors();

/// A stream that libjpeg makes of three photo-like planes, whose sizes follow from the factors.
Bytes odd_stream(int width, int height, LibjpegOptions options, std::uint64_t seed);

}  // namespace zerorun::test
