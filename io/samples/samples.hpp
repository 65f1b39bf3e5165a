// Samples of pictures by the rules of the caller: depth, dither, alpha, and YCbCr of any range,
// matrix and depth to full range BT.601 with 8 bits (JFIF).
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

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

/// Y' = Kr R' + (1 - Kr - Kb) G' + Kb B' (ITU-T H.273, MatrixCoefficients).
struct LumaWeights {
  double kr = 0.299, kb = 0.114;  // BT.601, which JFIF prescribes
  friend bool operator==(const LumaWeights&, const LumaWeights&) = default;
};
inline constexpr LumaWeights kBt601{0.299, 0.114};
inline constexpr LumaWeights kBt709{0.2126, 0.0722};
inline constexpr LumaWeights kBt2020{0.2627, 0.0593};
inline constexpr LumaWeights kFcc{0.30, 0.11};
inline constexpr LumaWeights kSmpte240m{0.212, 0.087};

/// BT.601 for an empty name; FFmpeg's names of SampleRules::matrix.
LumaWeights weights_named(std::string_view name) noexcept;
/// True for "pc" or an empty name if `by_file`; "tv" is limited range (SampleRules::range).
bool is_full_range(std::string_view name, bool by_file) noexcept;

struct YccCoding {
  int depth_bits = 8;  ///< 8 to 16
  bool full_range = true;
  LumaWeights weights = kBt601;
  friend bool operator==(const YccCoding&, const YccCoding&) = default;
};

/// A planar picture of bytes, or of native 16-bit samples if the depth is over 8 bits.
struct YccPlanes {
  std::array<const std::uint8_t*, 3> data{};
  std::array<std::ptrdiff_t, 3> stride_bytes{};
};

/// The conversion of one coding. Every sample becomes the integer nearest to the exact value:
/// ranges and depths as if by integer division (ties away from zero), matrices in fixed point of
/// 2^-16.
class YccToJfif {
 public:
  explicit YccToJfif(const YccCoding& coding);

  const YccCoding& coding() const noexcept { return coding_; }
  const SampleConversion& terms() const noexcept { return terms_; }
  /// True if convert() only copies.
  bool is_identity() const noexcept { return coding_ == YccCoding{}; }

  /// `in` has the geometry of `out`, which is planar YCbCr or grey. Where the matrix needs chroma
  /// at a luma sample and chroma is subsampled, it is the chroma sample that covers the pixel.
  /// `dither`: samples of more than 8 bits become one of the two nearest integers by an ordered
  /// pattern, whose mean is the exact value.
  void convert(const YccPlanes& in, const FrameView& out, bool dither = false) const;

 private:
  YccCoding coding_;
  SampleConversion terms_;
};

}  // namespace zerorun::io
