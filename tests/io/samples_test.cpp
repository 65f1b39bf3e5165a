// Every layout to every other: the same samples where nothing is lost, else close to the equations;
// ranges, depths and matrices against the equations in double precision.
// SPDX-License-Identifier: MIT
#include "io/samples/frame_convert.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "codec/arith/color.hpp"
#include "io/samples/samples.hpp"
#include "tests/io/support.hpp"
#include "tests/support/random.hpp"
#include "tests/support/test_frame.hpp"

namespace zerorun::test {
namespace {

TEST(FrameConverter, RearrangesWithoutLoss) {
  io::FrameConverter converter;
  Frame out;
  for (const PixelFormat to : {PixelFormat::nv12, PixelFormat::nv21, PixelFormat::yuyv,
                               PixelFormat::uyvy, PixelFormat::bgr24, PixelFormat::rgbx32,
                               PixelFormat::bgrx32, PixelFormat::xrgb32, PixelFormat::xbgr32}) {
    const PixelFormat from =
        is_rgb(to) ? PixelFormat::rgb24 : planar_format(native_subsampling(to));
    for (const int width : {1, 2, 7, 16}) {
      const TestFrame plain = make_frame(Content::noise, from, width, 5, 9, Layout::padded);
      const TestFrame packed_frame = rearrange(plain, to, 255);
      ASSERT_TRUE(converter.convert(packed_frame.view(), from, out));
      EXPECT_EQ(packed(out), plain.packed()) << name(to) << width;
      ASSERT_TRUE(converter.convert(plain.view(), to, out));
      Frame back;
      ASSERT_TRUE(io::FrameConverter().convert(std::as_const(out).view(), from, back));
      EXPECT_EQ(packed(back), plain.packed()) << name(to) << width;
    }
  }
}

TEST(FrameConverter, FlatColoursKeepTheirValueInEveryPair) {
  io::FrameConverter converter;
  for (const PixelFormat from : kAllFormats)
    for (const PixelFormat to : kAllFormats) {
      TestFrame rgb(PixelFormat::rgb24, 7, 5);
      for (int y = 0; y < 5; ++y)
        for (int x = 0; x < 7; ++x)
          for (int c = 0; c < 3; ++c)
            rgb.row(0, y)[3 * x + c] = static_cast<std::uint8_t>(60 + 50 * c);
      Frame first, second, back;
      ASSERT_TRUE(converter.convert(rgb.view(), from, first)) << name(from);
      ASSERT_TRUE(converter.convert(std::as_const(first).view(), to, second)) << name(to);
      ASSERT_TRUE(converter.convert(std::as_const(second).view(), PixelFormat::rgb24, back));
      const std::vector<std::uint8_t> samples = packed(back);
      const bool gray = from == PixelFormat::gray8 || to == PixelFormat::gray8;
      const double luma = 0.299 * 60 + 0.587 * 110 + 0.114 * 160;
      for (std::size_t i = 0; i < samples.size(); ++i)
        ASSERT_NEAR(samples[i], gray ? luma : 60 + 50.0 * static_cast<double>(i % 3), 2.0)
            << name(from) << " to " << name(to) << " at " << i;
    }
}

TEST(FrameConverter, RgbToYcbcrByTheEquations) {
  const TestFrame rgb = make_frame(Content::noise, PixelFormat::rgb24, 64, 64, 5);
  Frame out;
  ASSERT_TRUE(io::FrameConverter().convert(rgb.view(), PixelFormat::yuv444p, out));
  const ConstFrameView view = std::as_const(out).view();
  for (int y = 0; y < 64; ++y)
    for (int x = 0; x < 64; ++x) {
      const std::uint8_t* p = rgb.row(0, y) + 3 * x;
      const double luma = 0.299 * p[0] + 0.587 * p[1] + 0.114 * p[2];
      const std::ptrdiff_t at = y * view.stride_bytes[0] + x;
      ASSERT_NEAR(view.data[0][at], luma, 0.51);
      ASSERT_NEAR(view.data[1][at], std::min(255.0, 128 + (p[2] - luma) / 1.772), 0.51);
      ASSERT_NEAR(view.data[2][at], std::min(255.0, 128 + (p[0] - luma) / 1.402), 0.51);
    }
}

TEST(FrameConverter, RefusesWhatItCannotRead) {
  io::FrameConverter converter;
  Frame out;
  EXPECT_EQ(converter.convert({}, PixelFormat::rgb24, out).code(), Errc::invalid_frame);
  TestFrame small(PixelFormat::gray8, 3, 3), large(PixelFormat::gray8, 4, 3);
  EXPECT_EQ(converter.convert(std::as_const(small).view(), large.view()).code(),
            Errc::invalid_frame);
}

using io::LumaWeights;
using io::YccCoding;

struct Ycc {
  double y, cb, cr;  // 0..1, -0.5..0.5
};

/// ITU-T H.273, 8.3: from the coded integers.
Ycc decode(const YccCoding& c, double y, double cb, double cr) {
  const double unit = std::ldexp(1.0, c.depth_bits - 8), top = std::ldexp(1.0, c.depth_bits) - 1;
  if (c.full_range) return {y / top, (cb - 128 * unit) / top, (cr - 128 * unit) / top};
  return {(y - 16 * unit) / (219 * unit), (cb - 128 * unit) / (224 * unit),
          (cr - 128 * unit) / (224 * unit)};
}

/// Converts to R'G'B' and back, as the definitions do.
Ycc change_matrix(const Ycc& in, const LumaWeights& from, const LumaWeights& to) {
  const double r = in.y + 2 * (1 - from.kr) * in.cr, b = in.y + 2 * (1 - from.kb) * in.cb;
  const double g = (in.y - from.kr * r - from.kb * b) / (1 - from.kr - from.kb);
  const double y = to.kr * r + (1 - to.kr - to.kb) * g + to.kb * b;
  return {y, (b - y) / (2 * (1 - to.kb)), (r - y) / (2 * (1 - to.kr))};
}

std::int64_t divide_rounded(std::int64_t numerator, std::int64_t denominator) {
  const std::int64_t half = denominator / 2;
  return (numerator >= 0 ? numerator + half : numerator - half) / denominator;
}

/// For the same matrix a sample is the rounded quotient of integers.
void expect_quotients(const YccCoding& c) {
  const SampleConversion terms = io::YccToJfif(c).terms();
  const std::int64_t unit = std::int64_t{1} << (c.depth_bits - 8);
  const std::int64_t top = (std::int64_t{1} << c.depth_bits) - 1;
  const std::int64_t black = c.full_range ? 0 : 16 * unit;
  const std::int64_t luma_span = c.full_range ? top : 219 * unit;
  const std::int64_t chroma_span = c.full_range ? top : 224 * unit;
  for (std::int64_t i = 0; i <= top; ++i) {
    const auto clip255 = [](std::int64_t value) {
      return static_cast<int>(std::clamp<std::int64_t>(value, 0, 255));
    };
    const auto sample = static_cast<std::uint32_t>(i);
    ASSERT_EQ(sample_of(term_of(terms.y_y, sample)),
              clip255(divide_rounded((i - black) * 255, luma_span)))
        << i;
    ASSERT_EQ(sample_of(term_of(terms.cb_cb, sample)),
              clip255(128 + divide_rounded((i - 128 * unit) * 255, chroma_span)))
        << i;
  }
  EXPECT_EQ(terms.cr_cr, terms.cb_cb);
  for (const SampleTerm& none : {terms.y_cb, terms.y_cr, terms.cb_cr, terms.cr_cb})
    EXPECT_EQ(none, SampleTerm{});
}

/// For another matrix a sample is the rounded sum of terms, which are rounded to 2^-16. Of the
/// values of 15 and 16 bits some come so near to a tie that 48 bits do not tell its side.
void expect_rounded_terms(const YccCoding& c) {
  const SampleConversion terms = io::YccToJfif(c).terms();
  const int top = (1 << c.depth_bits) - 1;
  const std::int32_t tolerance = c.depth_bits > 14 ? 1 : 0;
  const auto nearest = [](double value) {
    return static_cast<std::int32_t>(std::lround(value * 65536));
  };
  const Ycc of_cb = change_matrix({0, 1, 0}, c.weights, io::kBt601);
  const Ycc of_cr = change_matrix({0, 0, 1}, c.weights, io::kBt601);
  for (int i = 0; i <= top; ++i) {
    const auto sample = static_cast<std::uint32_t>(i);
    const Ycc in = decode(c, i, i, i);
    const double luma = 255 * in.y, chroma = 255 * in.cb;
    ASSERT_NEAR(term_of(terms.y_y, sample), nearest(luma), tolerance) << i;
    ASSERT_NEAR(term_of(terms.y_cb, sample), nearest(of_cb.y * chroma), tolerance) << i;
    ASSERT_NEAR(term_of(terms.y_cr, sample), nearest(of_cr.y * chroma), tolerance) << i;
    ASSERT_NEAR(term_of(terms.cb_cb, sample), nearest(128 + of_cb.cb * chroma), tolerance) << i;
    ASSERT_NEAR(term_of(terms.cb_cr, sample), nearest(of_cr.cb * chroma), tolerance) << i;
    ASSERT_NEAR(term_of(terms.cr_cb, sample), nearest(of_cb.cr * chroma), tolerance) << i;
    ASSERT_NEAR(term_of(terms.cr_cr, sample), nearest(128 + of_cr.cr * chroma), tolerance) << i;
  }
}

TEST(YccToJfifTerms, EverySampleOfEveryCoding) {
  for (int depth = 8; depth <= 16; ++depth)
    for (const bool full_range : {true, false}) {
      SCOPED_TRACE(testing::Message() << depth << " bits, full range " << full_range);
      expect_quotients({depth, full_range, io::kBt601});
      for (const LumaWeights& weights : {io::kBt709, io::kBt2020, io::kFcc, io::kSmpte240m}) {
        SCOPED_TRACE(testing::Message() << "Kr " << weights.kr);
        expect_rounded_terms({depth, full_range, weights});
      }
    }
}

/// Rows that no vector divides, chroma at the right edge, and samples above the depth, whose upper
/// bits count for nothing.
TEST(YccToJfifPlanes, AnyWidthAndSampling) {
  Random random(3);
  for (const PixelFormat format : {PixelFormat::yuv420p, PixelFormat::yuv422p, PixelFormat::yuv444p,
                                   PixelFormat::yuv440p, PixelFormat::yuv411p, PixelFormat::gray8})
    for (const int depth : {8, 10})
      for (const LumaWeights& weights : {io::kBt601, io::kBt709})
        for (const int width : {1, 2, 3, 4, 5, 31, 32, 33, 100}) {
          const int height = 5;
          std::vector<std::uint16_t> samples[3];
          std::vector<std::uint8_t> bytes[3];
          io::YccPlanes in;
          const int planes = plane_count(format);
          for (int p = 0; p < planes; ++p) {
            const auto plane = static_cast<std::size_t>(p);
            const std::size_t row = plane_row_bytes(format, p, width);
            for (std::size_t i = 0;
                 i < row * static_cast<std::size_t>(plane_rows(format, p, height)); ++i) {
              samples[p].push_back(static_cast<std::uint16_t>(random.between(0, 65535)));
              bytes[p].push_back(static_cast<std::uint8_t>(samples[p].back()));
            }
            in.data[plane] =
                depth == 8 ? bytes[p].data() : reinterpret_cast<std::uint8_t*>(samples[p].data());
            in.stride_bytes[plane] = static_cast<std::ptrdiff_t>(depth == 8 ? row : 2 * row);
          }
          const io::YccToJfif to_jfif({depth, false, weights});
          TestFrame found(format, width, height, Layout::padded);
          to_jfif.convert(in, found.view());
          const SampleConversion& c = to_jfif.terms();
          const LumaFactors factors = luma_factors(native_subsampling(format));
          const auto sample = [&](int p, int x, int y) {
            const std::size_t row = plane_row_bytes(format, p, width);
            const auto at = static_cast<std::size_t>(y) * row + static_cast<std::size_t>(x);
            return samples[p][at] & ((1U << depth) - 1);
          };
          for (int p = 0; p < planes; ++p)
            for (int y = 0; y < found.rows(p); ++y)
              for (int x = 0; x < static_cast<int>(found.row_bytes(p)); ++x) {
                const int cx = p == 0 ? x / factors.h : x, cy = p == 0 ? y / factors.v : y;
                const SampleTerm& own = p == 0 ? c.y_y : SampleTerm{};
                std::int32_t sum = term_of(own, sample(0, p == 0 ? x : 0, p == 0 ? y : 0));
                if (planes == 3) {
                  const SampleTerm by_cb = p == 0 ? c.y_cb : p == 1 ? c.cb_cb : c.cr_cb;
                  const SampleTerm by_cr = p == 0 ? c.y_cr : p == 1 ? c.cb_cr : c.cr_cr;
                  sum += term_of(by_cb, sample(1, cx, cy)) + term_of(by_cr, sample(2, cx, cy));
                }
                ASSERT_EQ(found.row(p, y)[x], sample_of(sum))
                    << name(format) << ' ' << width << ": " << p << ' ' << x << ',' << y;
              }
        }
}

TEST(YccToJfifPlanes, ChromaLiesWhereItsSamplingSays) {
  // Black luma with one large Cr sample per chroma position: luma shows which one was used.
  for (const auto& [format, step_x, step_y] :
       {std::tuple{PixelFormat::yuv420p, 2, 2}, std::tuple{PixelFormat::yuv422p, 2, 1},
        std::tuple{PixelFormat::yuv440p, 1, 2}, std::tuple{PixelFormat::yuv411p, 4, 1}}) {
    TestFrame in(format, 9, 5, Layout::padded, 128);
    for (int y = 0; y < 5; ++y) std::fill_n(in.row(0, y), 9, std::uint8_t{100});
    for (int y = 0; y < in.rows(2); ++y)
      for (std::size_t x = 0; x < in.row_bytes(2); ++x)
        in.row(2, y)[x] = (x + static_cast<std::size_t>(y)) % 2 ? 200 : 60;
    const ConstFrameView view = std::as_const(in).view();
    const io::YccPlanes planes{{view.data[0], view.data[1], view.data[2]}, view.stride_bytes};
    TestFrame out(format, 9, 5, Layout::bottom_up);
    io::YccToJfif({8, true, io::kBt709}).convert(planes, out.view());
    for (int y = 0; y < 5; ++y)
      for (int x = 0; x < 9; ++x) {
        const bool high = (x / step_x + y / step_y) % 2 != 0;
        ASSERT_EQ(out.row(0, y)[x] > 100, high) << x << "," << y;
      }
  }
}

}  // namespace
}  // namespace zerorun::test
