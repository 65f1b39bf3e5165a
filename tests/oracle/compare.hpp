// Assertions that compare our encoder and decoder with libjpeg-turbo.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/coder.hpp"
#include "tests/support/jpeg_segments.hpp"
#include "tests/support/libjpeg_encode.hpp"
#include "zerorun/decoder.hpp"
#include "zerorun/encoder.hpp"

namespace zerorun::test {

struct Size {
  int width, height;
};
/// "97x55"
std::string to_string(Size size);

/// The options that make libjpeg do what `params` say. libjpeg has no restart policy `automatic`:
/// it fails the test.
LibjpegOptions libjpeg_options(const EncodeParams& params);

/// Compares tables, frame header and every byte from SOS on.
testing::AssertionResult same_stream(std::span<const std::byte> ours,
                                     std::span<const std::byte> libjpegs);

struct DecodeExpectation {
  bool clean = true;  ///< the report names no problem; otherwise it names one
  std::vector<int> threads = {1, 2, 5};
};

/// Compares coefficients, component planes, RGB with both up-samplings, and grey with libjpeg's. Of
/// four components libjpeg's inks are compared, and RGB and grey with what follows from these.
/// libjpeg has no up-sampling for ratios such as 3:2; ours repeats the nearest sample there, and is
/// compared with the definition in real numbers.
void compare_decode(std::span<const std::byte> jpeg, const DecodeExpectation& expectation = {});

}  // namespace zerorun::test
