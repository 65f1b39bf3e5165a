// Converts YCbCr of any range, matrix and depth to full range BT.601 with 8 bits.
// SPDX-License-Identifier: MIT
#include "io/samples/ycc_to_jfif.hpp"

#include <cmath>

#include "io/samples/pixel_pack.hpp"
#include "io/samples/samples.hpp"

namespace zerorun::io {
namespace {

/// Black, neutral chroma, and the spans of luma and chroma in a coding (ITU-T H.273, 8.3).
struct Levels {
  double black, luma_span, neutral, chroma_span;
};

Levels levels_of(const YccCoding& c) noexcept {
  const double unit = std::ldexp(1.0, c.depth_bits - 8);
  const double top = std::ldexp(1.0, c.depth_bits) - 1;
  if (c.full_range) return {0, top, 128 * unit, top};
  return {16 * unit, 219 * unit, 128 * unit, 224 * unit};
}

/// slope * sample + offset.
struct Line {
  double slope, offset;
};

/// 255 * factor * (a chroma sample as a part of its span) + neutral.
Line chroma_line(const Levels& levels, double factor, double neutral) noexcept {
  const double slope = 255 * factor / levels.chroma_span;
  return {slope, neutral - slope * levels.neutral};
}

/// The greatest multiple of 2^-16 that is not above the line.
SampleTerm floor_of(const Line& line) noexcept {
  const auto in_2_48 = [](double value) { return std::llround(std::ldexp(value, 48)); };
  const auto bits = [](std::int64_t value, int from) {
    return static_cast<std::uint32_t>(value >> from & 0xFFFF);
  };
  const std::int64_t slope = in_2_48(line.slope), offset = in_2_48(line.offset);
  return {static_cast<std::int32_t>(slope >> 32),
          static_cast<std::int32_t>(offset >> 32),
          bits(slope, 16),
          bits(offset, 16),
          bits(slope, 0),
          bits(offset, 0)};
}

/// The multiple of 2^-16 nearest to the line.
SampleTerm nearest_to(const Line& line) noexcept {
  return floor_of({line.slope, line.offset + std::ldexp(1.0, -17)});
}

/// A value is the sample itself, before it is rounded. Ties go away from zero, which is upwards for
/// luma and large chroma, and downwards for small chroma; large chroma has ties above 255 alone.
/// The distance to a tie is otherwise more than 2^-17, and the errors of the terms are below 2^-32.
SampleConversion same_matrix(const Levels& levels, int depth_bits) noexcept {
  const double tie = std::ldexp(1.0, -24);
  const double luma_slope = 255 / levels.luma_span;
  const SampleTerm luma = floor_of({luma_slope, tie - luma_slope * levels.black});
  const SampleTerm chroma = floor_of(chroma_line(levels, 1, 128 - tie));
  return {depth_bits, luma, {}, {}, chroma, {}, {}, chroma};
}

/// R' = Y + 2(1 - Kr) Cr, B' = Y + 2(1 - Kb) Cb and G' from the luma equation, inserted into
/// BT.601's equations. The weights of Y sum to 1 in both, so Y passes through unchanged, and Cb and
/// Cr need no luma: grey stays grey.
SampleConversion other_matrix(const Levels& levels, int depth_bits,
                              const LumaWeights& weights) noexcept {
  const double kr = weights.kr, kb = weights.kb, kg = 1 - kr - kb;
  const double r_cr = 2 * (1 - kr), b_cb = 2 * (1 - kb);
  const double g_cb = -b_cb * kb / kg, g_cr = -r_cr * kr / kg;
  const double to_r = kBt601.kr, to_b = kBt601.kb, to_g = 1 - to_r - to_b;
  const double y_cb = to_g * g_cb + to_b * b_cb, y_cr = to_r * r_cr + to_g * g_cr;
  const double cb_scale = 1 / (2 * (1 - to_b)), cr_scale = 1 / (2 * (1 - to_r));
  const double luma_slope = 255 / levels.luma_span;
  return {depth_bits,
          nearest_to({luma_slope, -luma_slope * levels.black}),
          nearest_to(chroma_line(levels, y_cb, 0)),
          nearest_to(chroma_line(levels, y_cr, 0)),
          nearest_to(chroma_line(levels, (b_cb - y_cb) * cb_scale, 128)),
          nearest_to(chroma_line(levels, -y_cr * cb_scale, 0)),
          nearest_to(chroma_line(levels, -y_cb * cr_scale, 0)),
          nearest_to(chroma_line(levels, (r_cr - y_cr) * cr_scale, 128))};
}

}  // namespace

LumaWeights weights_named(std::string_view name) noexcept {
  if (name == "bt709") return kBt709;
  return name == "bt2020nc" ? kBt2020 : kBt601;
}

bool is_full_range(std::string_view name, bool by_file) noexcept {
  return name == "pc" || (name != "tv" && by_file);
}

YccToJfif::YccToJfif(const YccCoding& coding)
    : coding_(coding),
      terms_(coding.weights == kBt601
                 ? same_matrix(levels_of(coding), coding.depth_bits)
                 : other_matrix(levels_of(coding), coding.depth_bits, coding.weights)) {}

void YccToJfif::convert(const YccPlanes& in, const FrameView& out, bool dither) const {
  if (is_identity())
    copy_frame({out.format, out.width, out.height, in.data, in.stride_bytes}, out);
  else
    convert_by_terms(terms_, in, out, dither && coding_.depth_bits > 8);
}

}  // namespace zerorun::io
