// The oracle: libjpeg-turbo's decoder gives coefficients, component planes and pixels.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "zerorun/decoder.hpp"

namespace zerorun::test {

/// What libjpeg says of a stream.
struct LibjpegVerdict {
  bool delivered = false;  ///< false: it refused the stream
  int warnings = 0;
  std::string text;  ///< the error, or the first warning
  bool clean() const noexcept { return delivered && warnings == 0; }
};

/// How libjpeg gets the stream. libjpeg-turbo 2.1.5 leaves its fast Huffman decoder at FF FF 00
/// with stale coefficients, but only where it has more than 512 bytes a block before it: in pieces
/// it is always right.
enum class Feed { whole, pieces_of_64_bytes };

/// jpeg_read_coefficients, cropped to the true blocks of each component. `peak` gets the largest
/// sum of the magnitudes of a block's dequantised coefficients.
LibjpegVerdict libjpeg_coefficients(std::span<const std::byte> jpeg,
                                    std::vector<ComponentCoefficients>& out,
                                    Feed feed = Feed::whole, int* peak = nullptr);

/// libjpeg reads the same coefficients of both, without a warning.
bool same_coefficients(std::span<const std::byte> a, std::span<const std::byte> b);

/// jpeg_read_raw_data with the accurate integer IDCT, cropped to the true samples.
LibjpegVerdict libjpeg_planes(std::span<const std::byte> jpeg, std::vector<ComponentPlane>& out,
                              Feed feed = Feed::whole);

enum class PixelOutput { gray, rgb, cmyk };

struct Pixels {
  int width = 0, height = 0;
  std::vector<std::uint8_t> samples;  ///< [height][width][1, 3 or 4]
};

/// jpeg_read_scanlines with the accurate integer IDCT; `fancy` is do_fancy_upsampling, and `scale`
/// the denominator of 1/2, 1/4 or 1/8.
LibjpegVerdict libjpeg_pixels(std::span<const std::byte> jpeg, PixelOutput space, bool fancy,
                              Pixels& out, unsigned scale = 1, Feed feed = Feed::whole);

}  // namespace zerorun::test
