// Samples of pictures by the rules of the caller: alpha, and conversions of range, matrix and
// depth.
// SPDX-License-Identifier: MIT
#include "io/samples/samples.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "codec/arith/color.hpp"
#include "codec/arith/host_device.hpp"
#include "io/samples/pixel_pack.hpp"

namespace zerorun::io {

namespace {

std::uint32_t alpha_at(const AlphaPlane& alpha, int x, int y) noexcept {
  const std::uint8_t* at =
      alpha.data + y * alpha.stride_bytes + std::ptrdiff_t{x} * alpha.step_bytes;
  if (alpha.depth_bits <= 8) return *at;
  std::uint16_t word = 0;
  std::memcpy(&word, at, sizeof(word));
  return std::min<std::uint32_t>(word, (1U << alpha.depth_bits) - 1);
}

/// The value between `background` and `value`, rounded. `sum` of `most` is opaque.
std::uint8_t between(std::uint8_t value, std::uint32_t background, std::uint64_t sum,
                     std::uint64_t most) noexcept {
  return static_cast<std::uint8_t>((value * sum + background * (most - sum) + most / 2) / most);
}

void blend_plane(const AlphaPlane& alpha, std::uint32_t background, const FrameView& frame,
                 int plane, int across, int down) noexcept {
  const std::uint64_t top = (1U << alpha.depth_bits) - 1;
  const int columns = static_cast<int>(plane_row_bytes(frame.format, plane, frame.width));
  for (int row = 0; row < plane_rows(frame.format, plane, frame.height); ++row) {
    std::uint8_t* out = row_of(frame, plane, row);
    for (int column = 0; column < columns; ++column) {
      const int right = std::min((column + 1) * across, frame.width);
      const int bottom = std::min((row + 1) * down, frame.height);
      std::uint64_t sum = 0, most = 0;
      for (int y = row * down; y < bottom; ++y)
        for (int x = column * across; x < right; ++x, most += top) sum += alpha_at(alpha, x, y);
      out[column] = between(out[column], background, sum, most);
    }
  }
}

void blend_rgb(const AlphaPlane& alpha, std::uint32_t background, const FrameView& frame) noexcept {
  const RgbLayout at = rgb_layout(frame.format);
  const std::uint64_t top = (1U << alpha.depth_bits) - 1;
  for (int y = 0; y < frame.height; ++y) {
    std::uint8_t* pixel = row_of(frame, 0, y);
    for (int x = 0; x < frame.width; ++x, pixel += at.bytes)
      for (const int channel : {at.r, at.g, at.b})
        pixel[channel] = between(pixel[channel], background, alpha_at(alpha, x, y), top);
  }
}

// A damaged stream may have samples above its depth, for which the terms would overflow; `mask`
// keeps the bits of the depth.

/// What is added to the sums of a row before they are rounded.
struct NoNoise {
  explicit NoNoise(int) {}
  constexpr std::int32_t at(int) const { return 0; }
};

/// From just above -1/2 to just below 1/2 in 16.16, with mean 0: exact integers stay.
struct OrderedNoise {
  explicit OrderedNoise(int y) {
    for (int x = 0; x < 8; ++x)
      row[static_cast<std::size_t>(x)] = (static_cast<std::int32_t>(bayer(x, y)) - 126) * 256;
  }
  std::int32_t at(int x) const { return row[static_cast<std::size_t>(x & 7)]; }
  std::array<std::int32_t, 8> row;
};

template <typename Sample, typename Noise>
ZR_HD void luma_row(const Sample* __restrict in, const SampleTerm& y, std::uint32_t mask,
                    const Noise& noise, int count, std::uint8_t* __restrict out) {
  for (int x = 0; x < count; ++x) out[x] = sample_of(term_of(y, in[x] & mask) + noise.at(x));
}

template <typename Sample, typename Noise>
ZR_HD void mixed_luma_row(const Sample* __restrict in, const std::int32_t* __restrict from_chroma,
                          const SampleTerm& y, std::uint32_t mask, const Noise& noise, int count,
                          std::uint8_t* __restrict out) {
  for (int x = 0; x < count; ++x)
    out[x] = sample_of(term_of(y, in[x] & mask) + from_chroma[x] + noise.at(x));
}

template <typename Sample, typename Noise>
ZR_HD void chroma_row(const Sample* __restrict cb, const Sample* __restrict cr,
                      const SampleTerm& by_cb, const SampleTerm& by_cr, std::uint32_t mask,
                      const Noise& noise, int count, std::uint8_t* __restrict out) {
  for (int x = 0; x < count; ++x)
    out[x] = sample_of(term_of(by_cb, cb[x] & mask) + term_of(by_cr, cr[x] & mask) + noise.at(x));
}

/// What each chroma position adds to the luma samples that it covers.
template <int kCovered, typename Sample>
ZR_HD void chroma_in_luma(const Sample* __restrict cb, const Sample* __restrict cr,
                          const SampleTerm& by_cb, const SampleTerm& by_cr, std::uint32_t mask,
                          int count, std::int32_t* __restrict out) {
  for (int x = 0; x < count; ++x) {
    const std::int32_t sum = term_of(by_cb, cb[x] & mask) + term_of(by_cr, cr[x] & mask);
    for (int i = 0; i < kCovered; ++i) out[kCovered * x + i] = sum;
  }
}

/// `sums` has room for a row of luma, and four more.
template <typename Sample, typename Noise>
ZR_HD void convert_picture(const SampleConversion& c, const YccPlanes& in, const FrameView& out,
                           std::int32_t* sums) {
  const auto row = [&](std::size_t plane, int y) {
    return reinterpret_cast<const Sample*>(in.data[plane] + y * in.stride_bytes[plane]);
  };
  const bool has_chroma = plane_count(out.format) == 3;
  const bool mixes = has_chroma && (c.y_cb != SampleTerm{} || c.y_cr != SampleTerm{});
  const std::uint32_t mask = (std::uint32_t{1} << c.depth_bits) - 1;
  const LumaFactors factors = luma_factors(native_subsampling(out.format));
  const int width = static_cast<int>(plane_row_bytes(out.format, has_chroma ? 1 : 0, out.width));
  for (int y = 0; y < out.height; ++y) {
    if (!mixes) {
      luma_row(row(0, y), c.y_y, mask, Noise(y), out.width, row_of(out, 0, y));
      continue;
    }
    if (y % factors.v == 0) {
      const Sample *cb = row(1, y / factors.v), *cr = row(2, y / factors.v);
      if (factors.h == 1) chroma_in_luma<1>(cb, cr, c.y_cb, c.y_cr, mask, width, sums);
      if (factors.h == 2) chroma_in_luma<2>(cb, cr, c.y_cb, c.y_cr, mask, width, sums);
      if (factors.h == 4) chroma_in_luma<4>(cb, cr, c.y_cb, c.y_cr, mask, width, sums);
    }
    mixed_luma_row(row(0, y), sums, c.y_y, mask, Noise(y), out.width, row_of(out, 0, y));
  }
  if (!has_chroma) return;
  for (int y = 0; y < plane_rows(out.format, 1, out.height); ++y) {
    const Sample *cb = row(1, y), *cr = row(2, y);
    const Noise noise(y);
    if (!mixes) {
      luma_row(cb, c.cb_cb, mask, noise, width, row_of(out, 1, y));
      luma_row(cr, c.cr_cr, mask, noise, width, row_of(out, 2, y));
    } else {
      chroma_row(cb, cr, c.cb_cb, c.cb_cr, mask, noise, width, row_of(out, 1, y));
      chroma_row(cb, cr, c.cr_cb, c.cr_cr, mask, noise, width, row_of(out, 2, y));
    }
  }
}

ZR_MULTIVERSION void convert_bytes(const SampleConversion& c, const YccPlanes& in,
                                   const FrameView& out, std::int32_t* sums) {
  convert_picture<std::uint8_t, NoNoise>(c, in, out, sums);
}

ZR_MULTIVERSION void convert_words(const SampleConversion& c, const YccPlanes& in,
                                   const FrameView& out, std::int32_t* sums) {
  convert_picture<std::uint16_t, NoNoise>(c, in, out, sums);
}

ZR_MULTIVERSION void dither_words(const SampleConversion& c, const YccPlanes& in,
                                  const FrameView& out, std::int32_t* sums) {
  convert_picture<std::uint16_t, OrderedNoise>(c, in, out, sums);
}

}  // namespace

void blend(const AlphaPlane& alpha, Alpha over, const FrameView& frame) noexcept {
  if (over == Alpha::ignore) return;
  const std::uint32_t background = over == Alpha::white ? 255 : 0;
  if (is_rgb(frame.format)) return blend_rgb(alpha, background, frame);
  blend_plane(alpha, background, frame, 0, 1, 1);
  if (plane_count(frame.format) == 1) return;
  const LumaFactors factors = luma_factors(native_subsampling(frame.format));
  for (const int plane : {1, 2}) blend_plane(alpha, 128, frame, plane, factors.h, factors.v);
}

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
    return copy_frame({out.format, out.width, out.height, in.data, in.stride_bytes}, out);
  std::vector<std::int32_t> sums(static_cast<std::size_t>(out.width) + 4);
  if (coding_.depth_bits <= 8)
    convert_bytes(terms_, in, out, sums.data());
  else if (dither)
    dither_words(terms_, in, out, sums.data());
  else
    convert_words(terms_, in, out, sums.data());
}

}  // namespace zerorun::io
