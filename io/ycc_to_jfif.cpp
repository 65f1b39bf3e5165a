// Converts YCbCr of any range, matrix and depth to full range BT.601 with 8 bits.
// SPDX-License-Identifier: MIT
#include "io/ycc_to_jfif.hpp"

#include <algorithm>
#include <cmath>

#include "io/pixel_pack.hpp"

namespace zerorun::io {
namespace {

constexpr int kFixedBits = 16;

std::uint8_t clamp8(std::int64_t value) noexcept {
  return static_cast<std::uint8_t>(std::clamp<std::int64_t>(value, 0, 255));
}

/// numerator / denominator to the nearest integer, ties away from zero.
std::int64_t divide_rounded(std::int64_t numerator, std::int64_t denominator) noexcept {
  const std::int64_t half = denominator / 2;
  return (numerator >= 0 ? numerator + half : numerator - half) / denominator;
}

/// Black, neutral chroma, and the spans of luma and chroma in a coding (ITU-T H.273, 8.3).
struct Levels {
  std::int64_t black, luma_span, neutral, chroma_span;
};

Levels levels_of(const YccCoding& c) noexcept {
  const std::int64_t unit = std::int64_t{1} << (c.depth_bits - 8);
  const std::int64_t top = (std::int64_t{1} << c.depth_bits) - 1;
  if (c.full_range) return {0, top, 128 * unit, top};
  return {16 * unit, 219 * unit, 128 * unit, 224 * unit};
}

std::int32_t fixed(double value) noexcept {
  return static_cast<std::int32_t>(std::lround(value * (1 << kFixedBits)));
}

std::uint8_t from_fixed(std::int32_t sum) noexcept {
  return clamp8((sum + (1 << (kFixedBits - 1))) >> kFixedBits);
}

template <typename Sample>
const Sample* samples_of(const YccPlanes& in, std::size_t plane, int row) noexcept {
  return reinterpret_cast<const Sample*>(in.data[plane] + row * in.stride_bytes[plane]);
}

}  // namespace

YccToJfif::YccToJfif(const YccCoding& coding) : coding_(coding) {
  same_matrix_ = coding.weights == kBt601;
  const std::size_t count = std::size_t{1} << coding.depth_bits;
  const Levels levels = levels_of(coding);
  if (same_matrix_) {
    luma_.resize(count);
    chroma_.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      const auto value = static_cast<std::int64_t>(i);
      luma_[i] = clamp8(divide_rounded((value - levels.black) * 255, levels.luma_span));
      chroma_[i] = clamp8(128 + divide_rounded((value - levels.neutral) * 255, levels.chroma_span));
    }
    return;
  }
  // R' = Y + 2(1 - Kr) Cr, B' = Y + 2(1 - Kb) Cb and G' from the luma equation, inserted into
  // BT.601's equations. The weights of Y sum to 1 in both, so Y passes through unchanged.
  const double kr = coding.weights.kr, kb = coding.weights.kb, kg = 1 - kr - kb;
  const double r_cr = 2 * (1 - kr), b_cb = 2 * (1 - kb);
  const double g_cb = -b_cb * kb / kg, g_cr = -r_cr * kr / kg;
  const double to_r = kBt601.kr, to_b = kBt601.kb, to_g = 1 - to_r - to_b;
  const double y_cb = to_g * g_cb + to_b * b_cb, y_cr = to_r * r_cr + to_g * g_cr;
  const double cb_scale = 1 / (2 * (1 - to_b)), cr_scale = 1 / (2 * (1 - to_r));
  for (auto* table : {&y_y_, &y_cb_, &y_cr_, &cb_cb_, &cb_cr_, &cr_cb_, &cr_cr_})
    table->resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto value = static_cast<std::int64_t>(i);
    const double luma =
        255.0 * static_cast<double>(value - levels.black) / static_cast<double>(levels.luma_span);
    const double chroma = 255.0 * static_cast<double>(value - levels.neutral) /
                          static_cast<double>(levels.chroma_span);
    y_y_[i] = fixed(luma);
    y_cb_[i] = fixed(y_cb * chroma);
    y_cr_[i] = fixed(y_cr * chroma);
    cb_cb_[i] = fixed(128 + (b_cb - y_cb) * cb_scale * chroma);
    cb_cr_[i] = fixed(-y_cr * cb_scale * chroma);
    cr_cb_[i] = fixed(-y_cb * cr_scale * chroma);
    cr_cr_[i] = fixed(128 + (r_cr - y_cr) * cr_scale * chroma);
  }
}

template <typename Sample>
void YccToJfif::convert_as(const YccPlanes& in, const FrameView& out) const {
  // A damaged stream may have samples above its depth; the mask keeps look-ups inside the tables.
  const auto mask = static_cast<Sample>((std::uint32_t{1} << coding_.depth_bits) - 1);
  const int planes = plane_count(out.format);
  const bool luma_needs_chroma = !same_matrix_ && planes == 3;
  const LumaFactors factors = luma_factors(native_subsampling(out.format));
  const int shift_x = factors.h / 2, shift_y = factors.v / 2;  // log2 of 1, 2 and 4
  for (int row = 0; row < out.height; ++row) {
    const Sample* from = samples_of<Sample>(in, 0, row);
    std::uint8_t* to = row_of(out, 0, row);
    if (luma_needs_chroma) {
      const Sample* cb = samples_of<Sample>(in, 1, row >> shift_y);
      const Sample* cr = samples_of<Sample>(in, 2, row >> shift_y);
      for (int x = 0; x < out.width; ++x)
        to[x] = from_fixed(y_y_[from[x] & mask] + y_cb_[cb[x >> shift_x] & mask] +
                           y_cr_[cr[x >> shift_x] & mask]);
    } else if (same_matrix_) {
      for (int x = 0; x < out.width; ++x) to[x] = luma_[from[x] & mask];
    } else {
      for (int x = 0; x < out.width; ++x) to[x] = from_fixed(y_y_[from[x] & mask]);
    }
  }
  if (planes < 3) return;
  const int width = static_cast<int>(plane_row_bytes(out.format, 1, out.width));
  for (int row = 0; row < plane_rows(out.format, 1, out.height); ++row) {
    const Sample* cb = samples_of<Sample>(in, 1, row);
    const Sample* cr = samples_of<Sample>(in, 2, row);
    std::uint8_t* to_cb = row_of(out, 1, row);
    std::uint8_t* to_cr = row_of(out, 2, row);
    for (int x = 0; x < width; ++x) {
      const auto b = static_cast<std::size_t>(cb[x] & mask),
                 r = static_cast<std::size_t>(cr[x] & mask);
      to_cb[x] = same_matrix_ ? chroma_[b] : from_fixed(cb_cb_[b] + cb_cr_[r]);
      to_cr[x] = same_matrix_ ? chroma_[r] : from_fixed(cr_cb_[b] + cr_cr_[r]);
    }
  }
}

void YccToJfif::convert(const YccPlanes& in, const FrameView& out) const {
  if (is_identity()) {
    copy_frame({out.format, out.width, out.height, in.data, in.stride_bytes}, out);
  } else if (coding_.depth_bits > 8) {
    convert_as<std::uint16_t>(in, out);
  } else {
    convert_as<std::uint8_t>(in, out);
  }
}

}  // namespace zerorun::io
