// Assertions: our encoder and decoder against libjpeg-turbo.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/jpeg_segments.hpp"
#include "tests/support/libjpeg_encode.hpp"
#include "zerorun/decoder.hpp"
#include "zerorun/encoder.hpp"

namespace zerorun::test {

/// Encodes on the CPU; a failure is a test failure and gives an empty stream.
Bytes encode(const ConstFrameView& frame, EncodeParams params);

/// The options that make libjpeg do what `params` say. The restart policy `automatic` has no
/// translation and is a test failure.
LibjpegOptions libjpeg_options(const EncodeParams& params);

/// Tables, frame header and every byte from SOS on.
testing::AssertionResult same_stream(std::span<const std::byte> ours,
                                     std::span<const std::byte> libjpegs);

/// What a stream must give; see compare_decode().
struct DecodeExpectation {
  bool clean = true;  ///< no concealment and no problem reported
  std::vector<int> threads = {1, 2, 5};
};

/// Coefficients, component planes, RGB with both up-samplings and grey: ours equal libjpeg's.
/// libjpeg has no up-sampling for ratios such as 3:2; ours repeats the nearest sample there, which
/// is compared with its definition in real numbers.
void compare_decode(std::span<const std::byte> jpeg, const DecodeExpectation& expectation = {});

}  // namespace zerorun::test
