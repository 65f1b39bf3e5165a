// Samples of pictures by the rules of the caller: depth, dither, alpha, colour.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "io/samples/ycc_to_jfif.hpp"
#include "zerorun/content.hpp"
#include "zerorun/frame.hpp"

namespace zerorun::io {

/// 0 to 252 in steps of 4, each once in 8x8 pixels.
constexpr std::uint32_t bayer(int x, int y) noexcept {
  std::uint32_t value = 0;
  for (int bit = 0; bit < 3; ++bit) {
    const auto column = static_cast<std::uint32_t>(x >> bit & 1);
    const auto row = static_cast<std::uint32_t>(y >> bit & 1);
    value = value << 2 | (column ^ row) << 1 | row;
  }
  return value << 2;
}

/// 65535 -> 255, rounded.
inline std::uint8_t reduce16(std::uint16_t value) noexcept {
  return static_cast<std::uint8_t>((value * 255U + 32767U) / 65535U);
}

/// `value` over black or white; 65535 is opaque.
inline std::uint32_t blend(std::uint32_t value, std::uint32_t alpha, Alpha over) noexcept {
  const std::uint64_t background = over == Alpha::white ? 65535 : 0;
  return static_cast<std::uint32_t>(
      (std::uint64_t{value} * alpha + background * (65535 - alpha) + 32767) / 65535);
}

/// Reads samples of 8 or 16 bits by the rules.
struct SampleReader {
  const SampleRules& rules;
  int alpha;  ///< channel; -1 if there is none

  static std::uint32_t wide(std::uint8_t value) { return value * 257U; }
  static std::uint32_t wide(std::uint16_t value) { return value; }

  template <typename Sample>
  std::uint8_t read(const Sample* pixel, int channel, int x, int y) const {
    const bool plain = alpha < 0 || rules.alpha == Alpha::ignore;
    if (plain && sizeof(Sample) == 1) return static_cast<std::uint8_t>(pixel[channel]);
    const std::uint32_t value =
        plain ? wide(pixel[channel]) : blend(wide(pixel[channel]), wide(pixel[alpha]), rules.alpha);
    if (!rules.dither || sizeof(Sample) == 1) return reduce16(static_cast<std::uint16_t>(value));
    return static_cast<std::uint8_t>((value * 256U / 257U + bayer(x, y)) >> 8);
  }
};

/// Alpha of every pixel of a frame; the highest value of the depth is opaque.
struct AlphaPlane {
  const std::uint8_t* data = nullptr;  ///< bytes, or native 16-bit words if the depth is over 8
  std::ptrdiff_t stride_bytes = 0;
  int step_bytes = 1;  ///< from a pixel to the next one of its row
  int depth_bits = 8;  ///< 8 to 16
};

/// Changes `frame`, which is full range: planar YCbCr, grey or RGB. A chroma sample takes the mean
/// alpha of the pixels that it covers. Alpha::ignore changes nothing.
void blend(const AlphaPlane& alpha, Alpha over, const FrameView& frame) noexcept;

/// As YccToJfif::convert().
void convert_by_terms(const SampleConversion& conversion, const YccPlanes& in, const FrameView& out,
                      bool dither);

}  // namespace zerorun::io
