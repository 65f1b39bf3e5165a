// Rows of the filters of arith/resample.hpp, and pairs of samples.
// SPDX-License-Identifier: MIT

#if defined(ZERORUN_FAST_RESAMPLE_ROWS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ZERORUN_FAST_RESAMPLE_ROWS_INL_HPP
#undef ZERORUN_FAST_RESAMPLE_ROWS_INL_HPP
#else
#define ZERORUN_FAST_RESAMPLE_ROWS_INL_HPP
#endif

#include <cstring>

#include "codec/arith/resample.hpp"
#include "codec/fast/color_kernels.hpp"
#include "codec/fast/simd-inl.hpp"

#if ZR_FAST_TARGET
HWY_BEFORE_NAMESPACE();
namespace zerorun::fast::HWY_NAMESPACE {

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

}  // namespace zerorun::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // ZR_FAST_TARGET

#endif  // per-target include guard
