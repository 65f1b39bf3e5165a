// The kernels for rows of pixels, compiled for each instruction set: colour and re-sampling.
// SPDX-License-Identifier: MIT
#include "codec/fast/color_rows.hpp"

#include <cstring>

#include "codec/arith/color.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codec/fast/color_kernels.cpp"
#include <hwy/foreach_target.h>

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
/// `kernel` for an order of bytes: kernel.operator()<kR, kG, kB, kPixel>().
template <typename Kernel>
HWY_INLINE void for_order(RgbOrder order, const Kernel& kernel) {
  if (order.pixel_bytes == 3 && order.r == 0) return kernel.template operator()<0, 1, 2, 3>();
  if (order.pixel_bytes == 3) return kernel.template operator()<2, 1, 0, 3>();
  if (order.r == 0) return kernel.template operator()<0, 1, 2, 4>();
  if (order.r == 1) return kernel.template operator()<1, 2, 3, 4>();
  if (order.r == 2) return kernel.template operator()<2, 1, 0, 4>();
  kernel.template operator()<3, 2, 1, 4>();
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

/// first_carry() of luma and chroma.
struct Carries {
  V32 luma, chroma;
  bool shape_noise;
};
/// With noise shaping all sums up to each one are rounded, and then their differences are taken.
HWY_INLINE V32 round_sums(V32 sums, std::int32_t offset, V32 carry, bool shape_noise) {
  const D32 d;
  static_assert(kShapedPixels == 4);  // of 128 bits
  sums = hn::Add(sums, hn::Set(d, offset));
  if (shape_noise) sums = hn::Add(sums, hn::ShiftLeftLanes<1>(d, sums));
  if (shape_noise) sums = hn::Add(sums, hn::ShiftLeftLanes<2>(d, sums));
  sums = hn::ShiftRight<kColorBits>(hn::Add(sums, carry));
  return shape_noise ? hn::Sub(sums, hn::ShiftLeftLanes<1>(d, sums)) : sums;
}
HWY_INLINE V16 color_sum(Wide sum, std::int32_t offset, V32 carry, bool shape_noise) {
  return hn::ReorderDemote2To(D16(), round_sums(sum.lower, offset, carry, shape_noise),
                              round_sums(sum.upper, offset, carry, shape_noise));
}

/// Y, Cb, Cr of 16-bit lanes. Factors above 32767 are made of two, or of a negated -32768.
struct YccLanes {
  V16 y, cb, cr;
};
HWY_INLINE YccLanes to_ycc(V16 r, V16 g, V16 b, const Carries& carry) {
  constexpr int kMiddle = 128 << kColorBits, kHalf = -color_fix(0.50000);
  constexpr int kG = color_fix(0.58700);
  const Wide half_r = combine(r, kHalf, g, color_fix(0.41869));
  const Wide half_b = combine(b, kHalf, g, 0);
  return {color_sum(combine(r, color_fix(0.29900), g, kG - 16384) +
                        combine(b, color_fix(0.11400), g, 16384),
                    0, carry.luma, carry.shape_noise),
          color_sum(combine(r, -color_fix(0.16874), g, -color_fix(0.33126)) - half_b, kMiddle,
                    carry.chroma, carry.shape_noise),
          color_sum(combine(b, -color_fix(0.08131), g, 0) - half_r, kMiddle, carry.chroma,
                    carry.shape_noise)};
}

template <int kR, int kG, int kB, int kPixel>
HWY_INLINE void rgb_vector_to_ycc(const std::uint8_t* in, const Carries& carry, std::uint8_t* y,
                                  std::uint8_t* cb, std::uint8_t* cr) {
  const D8 d;
  const RgbVectors rgb = load_rgb<kR, kG, kB, kPixel>(in);
  const Samples r = widen(rgb.r), g = widen(rgb.g), b = widen(rgb.b);
  const YccLanes lower = to_ycc(r.lower, g.lower, b.lower, carry);
  const YccLanes upper = to_ycc(r.upper, g.upper, b.upper, carry);
  hn::StoreU(narrow({lower.y, upper.y}), d, y);
  hn::StoreU(narrow({lower.cb, upper.cb}), d, cb);
  hn::StoreU(narrow({lower.cr, upper.cr}), d, cr);
}

template <int kR, int kG, int kB, int kPixel>
HWY_NOINLINE void rgb_to_ycc_of(const std::uint8_t* in, int width, int row, bool shapes_noise,
                                std::uint8_t* y, std::uint8_t* cb, std::uint8_t* cr) {
  const Carry first = first_carry(row, shapes_noise);
  const Carries carry{hn::Set(D32(), first.y), hn::Set(D32(), first.cb), shapes_noise};
  int x = 0;
  for (; x + kBytes <= width; x += kBytes)
    rgb_vector_to_ycc<kR, kG, kB, kPixel>(in + x * kPixel, carry, y + x, cb + x, cr + x);
  if (x == width) return;
  const auto rest = static_cast<std::size_t>(width - x);
  std::uint8_t pixels[kBytes * kPixel] = {}, out[3][kBytes];
  std::memcpy(pixels, in + x * kPixel, rest * kPixel);
  rgb_vector_to_ycc<kR, kG, kB, kPixel>(pixels, carry, out[0], out[1], out[2]);
  std::memcpy(y + x, out[0], rest);
  std::memcpy(cb + x, out[1], rest);
  std::memcpy(cr + x, out[2], rest);
}

inline void rgb_to_ycc_row(const std::uint8_t* in, RgbOrder order, int width, int row,
                           bool shapes_noise, std::uint8_t* y, std::uint8_t* cb, std::uint8_t* cr) {
  for_order(order, [&]<int kR, int kG, int kB, int kPixel>() {
    rgb_to_ycc_of<kR, kG, kB, kPixel>(in, width, row, shapes_noise, y, cb, cr);
  });
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
  for_order(order, [&]<int kR, int kG, int kB, int kPixel>() {
    ycc_to_rgb_of<kR, kG, kB, kPixel>(y, cb, cr, width, out);
  });
}

using DHalf8 = hn::Rebind<std::uint8_t, DU16>;
inline constexpr int kWords = HWY_LANES(std::uint16_t);

/// The even bytes of a vector plus the odd ones, as 16 bits.
HWY_INLINE VU16 add_neighbours(const std::uint8_t* in) {
  const DU16 d;
  const VU16 bytes = hn::BitCast(d, hn::LoadU(D8(), in));
  return hn::Add(hn::And(bytes, hn::Set(d, 0xFF)), hn::ShiftRight<8>(bytes));
}

inline void box_2(const std::uint8_t* row0, const std::uint8_t* row1, int v, std::uint8_t* out,
                  int out_width) {
  const DU16 d;
  const hn::Repartition<std::uint32_t, DU16> d32;
  // The bias of box_mean() of an even and of an odd column.
  const auto bias = static_cast<std::uint32_t>(v << 16 | (v - 1));
  const VU16 add = hn::BitCast(d, hn::Set(d32, bias));
  std::uint8_t last[kWords];
  for (int x = 0; x < out_width; x += kWords) {
    VU16 sum = hn::Add(add_neighbours(row0 + 2 * x), add);
    sum = v == 2 ? hn::ShiftRight<2>(hn::Add(sum, add_neighbours(row1 + 2 * x)))
                 : hn::ShiftRight<1>(sum);
    const auto bytes = hn::DemoteTo(DHalf8(), hn::BitCast(D16(), sum));
    if (x + kWords <= out_width) {
      hn::StoreU(bytes, DHalf8(), out + x);
    } else {
      hn::StoreU(bytes, DHalf8(), last);
      std::memcpy(out + x, last, static_cast<std::size_t>(out_width - x));
    }
  }
}

/// Pairs (even, odd) of results below 256.
HWY_INLINE void store_pairs(VU16 even, VU16 odd, std::uint8_t* out) {
  hn::StoreU(hn::BitCast(D8(), hn::Or(even, hn::ShiftLeft<8>(odd))), D8(), out);
}

template <bool kTwoRows>
HWY_INLINE void fancy_sums(const std::uint8_t* near, const std::uint8_t* far, int in_width,
                           std::uint16_t* sums) {
  const DU16 d;
  for (int x = 0; x < in_width; x += kWords) {
    VU16 sum = hn::PromoteTo(d, hn::LoadU(DHalf8(), near + x));
    if constexpr (kTwoRows)
      sum =
          hn::Add(hn::Add(sum, hn::Add(sum, sum)), hn::PromoteTo(d, hn::LoadU(DHalf8(), far + x)));
    hn::StoreU(sum, d, sums + x);
  }
  sums[-1] = sums[0];
  sums[in_width] = sums[in_width - 1];
}

template <bool kTwoRows>
HWY_INLINE void fancy_of(const std::uint8_t* near, const std::uint8_t* far, int in_width,
                         std::uint16_t* sums, std::uint8_t* out) {
  const DU16 d;
  fancy_sums<kTwoRows>(near, far, in_width, sums);
  constexpr int kShift = kTwoRows ? 4 : 2;
  const VU16 even_bias = hn::Set(d, kTwoRows ? triangle_2x2_bias(0) : triangle_bias(0));
  const VU16 odd_bias = hn::Set(d, kTwoRows ? triangle_2x2_bias(1) : triangle_bias(1));
  for (int x = 0; x < in_width; x += kWords) {
    const VU16 near_sum = hn::LoadU(d, sums + x);
    const VU16 three = hn::Add(near_sum, hn::Add(near_sum, near_sum));
    const VU16 even = hn::Add(hn::Add(three, hn::LoadU(d, sums + x - 1)), even_bias);
    const VU16 odd = hn::Add(hn::Add(three, hn::LoadU(d, sums + x + 1)), odd_bias);
    store_pairs(hn::ShiftRight<kShift>(even), hn::ShiftRight<kShift>(odd), out + 2 * x);
  }
}

inline void fancy_2(const std::uint8_t* near, const std::uint8_t* far, int in_width,
                    std::uint16_t* sums, std::uint8_t* out) {
  if (far != nullptr)
    fancy_of<true>(near, far, in_width, sums + kRowPadding, out);
  else
    fancy_of<false>(near, far, in_width, sums + kRowPadding, out);
}

inline void fancy_1x2(const std::uint8_t* near, const std::uint8_t* far, int width, int bias,
                      std::uint8_t* out) {
  const DU16 d;
  const VU16 add = hn::Set(d, static_cast<std::uint16_t>(bias));
  for (int x = 0; x < width; x += kWords) {
    const VU16 a = hn::PromoteTo(d, hn::LoadU(DHalf8(), near + x));
    const VU16 b = hn::PromoteTo(d, hn::LoadU(DHalf8(), far + x));
    const VU16 sum = hn::Add(hn::Add(a, hn::Add(a, a)), hn::Add(b, add));
    hn::StoreU(hn::DemoteTo(DHalf8(), hn::BitCast(D16(), hn::ShiftRight<2>(sum))), DHalf8(),
               out + x);
  }
}

inline void repeat_2(const std::uint8_t* in, int in_width, std::uint8_t* out) {
  const DU16 d;
  for (int x = 0; x < in_width; x += kWords) {
    const VU16 v = hn::PromoteTo(d, hn::LoadU(DHalf8(), in + x));
    store_pairs(v, v, out + 2 * x);
  }
}

inline void interleave(const std::uint8_t* a, const std::uint8_t* b, int pairs, std::uint8_t* out) {
  const DU16 d;
  int x = 0;
  for (; x + kWords <= pairs; x += kWords)
    store_pairs(hn::PromoteTo(d, hn::LoadU(DHalf8(), a + x)),
                hn::PromoteTo(d, hn::LoadU(DHalf8(), b + x)), out + 2 * x);
  for (; x < pairs; ++x) {
    out[2 * x] = a[x];
    out[2 * x + 1] = b[x];
  }
}

inline void split(const std::uint8_t* in, int pairs, std::uint8_t* a, std::uint8_t* b) {
  const DU16 d;
  int x = 0;
  for (; x + kWords <= pairs; x += kWords) {
    const VU16 both = hn::BitCast(d, hn::LoadU(D8(), in + 2 * x));
    hn::StoreU(hn::DemoteTo(DHalf8(), hn::BitCast(D16(), hn::And(both, hn::Set(d, 0xFF)))),
               DHalf8(), a + x);
    hn::StoreU(hn::DemoteTo(DHalf8(), hn::BitCast(D16(), hn::ShiftRight<8>(both))), DHalf8(),
               b + x);
  }
  for (; x < pairs; ++x) {
    a[x] = in[2 * x];
    b[x] = in[2 * x + 1];
  }
}

constexpr ColorKernels kColorKernels{rgb_to_ycc_row, box_2,    ycc_to_rgb_row, fancy_2,
                                     fancy_1x2,      repeat_2, interleave,     split};

}  // namespace zerorun::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // ZR_FAST_TARGET

#if HWY_ONCE
namespace zerorun::fast {

const ColorKernels& color_kernels(InstructionSet target) {
  return ZR_KERNELS_OF(target, kColorKernels);
}

}  // namespace zerorun::fast
#endif
