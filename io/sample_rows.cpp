// Converts the samples of a picture by the terms of a SampleConversion, row by row.
// SPDX-License-Identifier: MIT
#include "io/sample_rows.hpp"

#include <array>
#include <vector>

#include "codec/arith/sample_terms.hpp"
#include "codec/base/multiversion.hpp"
#include "io/bayer.hpp"
#include "io/pixel_pack.hpp"

namespace zerorun::io {
namespace {

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

void convert_by_terms(const SampleConversion& conversion, const YccPlanes& in, const FrameView& out,
                      bool dither) {
  std::vector<std::int32_t> sums(static_cast<std::size_t>(out.width) + 4);
  if (dither)
    dither_words(conversion, in, out, sums.data());
  else if (conversion.depth_bits > 8)
    convert_words(conversion, in, out, sums.data());
  else
    convert_bytes(conversion, in, out, sums.data());
}

}  // namespace zerorun::io
