// YCbCr of any range, matrix and depth -> full range BT.601 in 8 bits (JFIF), without FFmpeg.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

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

struct YccCoding {
  int depth_bits = 8;  ///< 8 to 16
  bool full_range = true;
  LumaWeights weights = kBt601;
  friend bool operator==(const YccCoding&, const YccCoding&) = default;
};

/// A planar picture of bytes, or of native 16-bit samples where the depth is over 8 bits.
struct YccPlanes {
  std::array<const std::uint8_t*, 3> data{};
  std::array<std::ptrdiff_t, 3> stride_bytes{};
};

/// Tables for one coding. Every sample becomes the nearest integer of the exact value: between
/// ranges and depths by integer division (ties away from zero), between matrices to 2^-16.
class YccToJfif {
 public:
  explicit YccToJfif(const YccCoding& coding);

  const YccCoding& coding() const noexcept { return coding_; }
  /// Samples are copied as they are.
  bool is_identity() const noexcept { return coding_ == YccCoding{}; }

  /// `in` has the geometry of `out`, which is planar YCbCr or grey. The matrix of a 4:2:0 picture
  /// needs chroma at luma's places: the sample that covers the pixel is taken.
  void convert(const YccPlanes& in, const FrameView& out) const;

 private:
  template <typename Sample>
  void convert_as(const YccPlanes& in, const FrameView& out) const;

  YccCoding coding_;
  bool same_matrix_ = true;
  std::vector<std::uint8_t> luma_, chroma_;  // same matrix: one look-up a sample
  // Another matrix: sums of 16.16 fixed-point terms. Grey stays grey, so Cb and Cr need no luma.
  std::vector<std::int32_t> y_y_, y_cb_, y_cr_, cb_cb_, cb_cr_, cr_cb_, cr_cr_;
};

}  // namespace zerorun::io
