// How samples of picture files become 8 bits without alpha: by the rules of the caller.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "io/bayer.hpp"
#include "zerorun/content.hpp"

namespace zerorun::io {

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

}  // namespace zerorun::io
