// Converts YCbCr of any range, matrix and depth to full range BT.601 with 8 bits (JFIF).
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "zerorun/frame.hpp"

namespace zerorun::io {

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
