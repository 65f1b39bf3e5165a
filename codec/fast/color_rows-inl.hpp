// Rows of packed RGB to rows of Y, Cb, Cr and back, with the integers of arith/color.hpp.
// SPDX-License-Identifier: MIT

#if defined(ZERORUN_FAST_COLOR_ROWS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ZERORUN_FAST_COLOR_ROWS_INL_HPP
#undef ZERORUN_FAST_COLOR_ROWS_INL_HPP
#else
#define ZERORUN_FAST_COLOR_ROWS_INL_HPP
#endif

#include <cstring>

#include "codec/arith/color.hpp"
#include "codec/fast/color_kernels.hpp"
#include "codec/fast/simd-inl.hpp"

#if ZR_FAST_TARGET
HWY_BEFORE_NAMESPACE();
namespace zerorun::fast::HWY_NAMESPACE {

inline constexpr int kBytes = HWY_LANES(std::uint8_t);

/// Samples of a vector as 16 bits: the lower and the upper 8 of each 128 bits.
struct Samples {
  V16 lower, upper;
};
HWY_INLINE Samples widen(V8 v) {
  const D8 d;
  const V8 zero = hn::Zero(d);
  return {hn::BitCast(D16(), hn::InterleaveLower(d, v, zero)),
          hn::BitCast(D16(), hn::InterleaveUpper(d, v, zero))};
}
HWY_INLINE V8 narrow(Samples v) { return pack_unsigned(v.lower, v.upper); }

/// R, G and B of a vector of pixels.
struct RgbVectors {
  V8 r, g, b;
};
template <int kR, int kG, int kB, int kPixel>
HWY_INLINE RgbVectors load_rgb(const std::uint8_t* in) {
  const D8 d;
  V8 v[4];
  if constexpr (kPixel == 3) {
    hn::LoadInterleaved3(d, in, v[0], v[1], v[2]);
  } else {
    hn::LoadInterleaved4(d, in, v[0], v[1], v[2], v[3]);
  }
  return {v[kR], v[kG], v[kB]};
}
template <int kR, int kG, int kB, int kPixel>
HWY_INLINE void store_rgb(RgbVectors rgb, std::uint8_t* out) {
  const D8 d;
  V8 v[4];
  v[6 - kR - kG - kB] = hn::Set(d, 255);
  v[kR] = rgb.r;
  v[kG] = rgb.g;
  v[kB] = rgb.b;
  if constexpr (kPixel == 3) {
    hn::StoreInterleaved3(v[0], v[1], v[2], d, out);
  } else {
    hn::StoreInterleaved4(v[0], v[1], v[2], v[3], d, out);
  }
}

/// (sum + offset) >> kColorBits
HWY_INLINE V16 color_sum(Wide sum, std::int32_t offset) {
  const V32 add = hn::Set(D32(), offset);
  return hn::ReorderDemote2To(D16(), hn::ShiftRight<kColorBits>(hn::Add(sum.lower, add)),
                              hn::ShiftRight<kColorBits>(hn::Add(sum.upper, add)));
}

/// Y, Cb, Cr of 16-bit lanes. Factors above 32767 are made of two, or of a negated -32768.
struct YccLanes {
  V16 y, cb, cr;
};
HWY_INLINE YccLanes to_ycc(V16 r, V16 g, V16 b) {
  constexpr int kOffset = (128 << kColorBits) + kColorHalf - 1, kHalf = -color_fix(0.50000);
  constexpr int kG = color_fix(0.58700);
  const Wide half_r = combine(r, kHalf, g, color_fix(0.41869));
  const Wide half_b = combine(b, kHalf, g, 0);
  return {color_sum(combine(r, color_fix(0.29900), g, kG - 16384) +
                        combine(b, color_fix(0.11400), g, 16384),
                    kColorHalf),
          color_sum(combine(r, -color_fix(0.16874), g, -color_fix(0.33126)) - half_b, kOffset),
          color_sum(combine(b, -color_fix(0.08131), g, 0) - half_r, kOffset)};
}

template <int kR, int kG, int kB, int kPixel>
HWY_INLINE void rgb_vector_to_ycc(const std::uint8_t* in, std::uint8_t* y, std::uint8_t* cb,
                                  std::uint8_t* cr) {
  const D8 d;
  const RgbVectors rgb = load_rgb<kR, kG, kB, kPixel>(in);
  const Samples r = widen(rgb.r), g = widen(rgb.g), b = widen(rgb.b);
  const YccLanes lower = to_ycc(r.lower, g.lower, b.lower);
  const YccLanes upper = to_ycc(r.upper, g.upper, b.upper);
  hn::StoreU(narrow({lower.y, upper.y}), d, y);
  hn::StoreU(narrow({lower.cb, upper.cb}), d, cb);
  hn::StoreU(narrow({lower.cr, upper.cr}), d, cr);
}

template <int kR, int kG, int kB, int kPixel>
HWY_NOINLINE void rgb_to_ycc_of(const std::uint8_t* in, int width, std::uint8_t* y,
                                std::uint8_t* cb, std::uint8_t* cr) {
  int x = 0;
  for (; x + kBytes <= width; x += kBytes)
    rgb_vector_to_ycc<kR, kG, kB, kPixel>(in + x * kPixel, y + x, cb + x, cr + x);
  if (x == width) return;
  const auto rest = static_cast<std::size_t>(width - x);
  std::uint8_t pixels[kBytes * kPixel] = {}, out[3][kBytes];
  std::memcpy(pixels, in + x * kPixel, rest * kPixel);
  rgb_vector_to_ycc<kR, kG, kB, kPixel>(pixels, out[0], out[1], out[2]);
  std::memcpy(y + x, out[0], rest);
  std::memcpy(cb + x, out[1], rest);
  std::memcpy(cr + x, out[2], rest);
}

inline void rgb_to_ycc_row(const std::uint8_t* in, RgbOrder order, int width, std::uint8_t* y,
                           std::uint8_t* cb, std::uint8_t* cr) {
  if (order.pixel_bytes == 3)
    return order.r == 0 ? rgb_to_ycc_of<0, 1, 2, 3>(in, width, y, cb, cr)
                        : rgb_to_ycc_of<2, 1, 0, 3>(in, width, y, cb, cr);
  if (order.r == 0) return rgb_to_ycc_of<0, 1, 2, 4>(in, width, y, cb, cr);
  if (order.r == 1) return rgb_to_ycc_of<1, 2, 3, 4>(in, width, y, cb, cr);
  if (order.r == 2) return rgb_to_ycc_of<2, 1, 0, 4>(in, width, y, cb, cr);
  rgb_to_ycc_of<3, 2, 1, 4>(in, width, y, cb, cr);
}

/// x * k / 2^16 rounded half up, for |x| <= 128: the product of 2 x loses half of a unit at most,
/// which the second rounding takes away.
HWY_INLINE V16 scaled(V16 x, int k) {
  const D16 d;
  const V16 high = hn::MulHigh(hn::Add(x, x), hn::Set(d, static_cast<std::int16_t>(k)));
  return hn::ShiftRight<1>(hn::Add(high, hn::Set(d, 1)));
}

/// R, G, B of 16-bit lanes, not limited. Whole multiples of Cb and Cr are split off the factors.
struct RgbLanes {
  V16 r, g, b;
};
HWY_INLINE RgbLanes to_rgb(V16 y, V16 cb, V16 cr) {
  const D16 d;
  constexpr int kUnit = 1 << kColorBits;
  cb = hn::Sub(cb, hn::Set(d, 128));
  cr = hn::Sub(cr, hn::Set(d, 128));
  const V16 r = hn::Add(cr, scaled(cr, color_fix(1.40200) - kUnit));
  const V16 b = hn::Add(hn::Add(cb, cb), scaled(cb, color_fix(1.77200) - 2 * kUnit));
  const V16 g = hn::Sub(
      descale16<kColorBits>(combine(cb, -color_fix(0.34414), cr, kUnit - color_fix(0.71414))), cr);
  return {hn::Add(y, r), hn::Add(y, g), hn::Add(y, b)};
}

template <int kR, int kG, int kB, int kPixel>
HWY_INLINE void ycc_vector_to_rgb(const std::uint8_t* in_y, const std::uint8_t* in_cb,
                                  const std::uint8_t* in_cr, std::uint8_t* out) {
  const D8 d;
  const Samples y = widen(hn::LoadU(d, in_y)), cb = widen(hn::LoadU(d, in_cb));
  const Samples cr = widen(hn::LoadU(d, in_cr));
  const RgbLanes lower = to_rgb(y.lower, cb.lower, cr.lower);
  const RgbLanes upper = to_rgb(y.upper, cb.upper, cr.upper);
  store_rgb<kR, kG, kB, kPixel>(
      {narrow({lower.r, upper.r}), narrow({lower.g, upper.g}), narrow({lower.b, upper.b})}, out);
}

template <int kR, int kG, int kB, int kPixel>
HWY_NOINLINE void ycc_to_rgb_of(const std::uint8_t* y, const std::uint8_t* cb,
                                const std::uint8_t* cr, int width, std::uint8_t* out) {
  int x = 0;
  for (; x + kBytes <= width; x += kBytes)
    ycc_vector_to_rgb<kR, kG, kB, kPixel>(y + x, cb + x, cr + x, out + x * kPixel);
  if (x == width) return;
  std::uint8_t pixels[kBytes * kPixel];
  ycc_vector_to_rgb<kR, kG, kB, kPixel>(y + x, cb + x, cr + x, pixels);
  std::memcpy(out + x * kPixel, pixels, static_cast<std::size_t>(width - x) * kPixel);
}

inline void ycc_to_rgb_row(const std::uint8_t* y, const std::uint8_t* cb, const std::uint8_t* cr,
                           int width, RgbOrder order, std::uint8_t* out) {
  if (order.pixel_bytes == 3)
    return order.r == 0 ? ycc_to_rgb_of<0, 1, 2, 3>(y, cb, cr, width, out)
                        : ycc_to_rgb_of<2, 1, 0, 3>(y, cb, cr, width, out);
  if (order.r == 0) return ycc_to_rgb_of<0, 1, 2, 4>(y, cb, cr, width, out);
  if (order.r == 1) return ycc_to_rgb_of<1, 2, 3, 4>(y, cb, cr, width, out);
  if (order.r == 2) return ycc_to_rgb_of<2, 1, 0, 4>(y, cb, cr, width, out);
  ycc_to_rgb_of<3, 2, 1, 4>(y, cb, cr, width, out);
}

}  // namespace zerorun::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // ZR_FAST_TARGET

#endif  // per-target include guard
