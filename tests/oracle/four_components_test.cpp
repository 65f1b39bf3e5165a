// CMYK and YCCK: coefficients, planes and inks are libjpeg-turbo's, and RGB follows from the inks.
// SPDX-License-Identifier: MIT
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/oracle/compare.hpp"
#include "tests/support/random.hpp"
#include "tests/support/resources.hpp"
#include "tests/support/test_frame.hpp"

namespace zerorun::test {
namespace {

constexpr std::uint8_t kApp14 = 0xEE;
constexpr Size kSizes[] = {{1, 1}, {8, 9}, {17, 11}, {83, 61}, {130, 35}};

LibjpegOptions four(bool is_ycck) {
  LibjpegOptions options;
  options.cmyk_stream = true;
  options.ycck_stream = is_ycck;
  return options;
}

Bytes sample_of(Size size, const LibjpegOptions& options, std::uint64_t seed = 1) {
  return libjpeg_sample(size.width, size.height, Subsampling::s444, options, seed);
}

/// Factors that an interleaved scan may have: at most ten blocks in an MCU.
void choose_factors(Random& random, LibjpegOptions& options) {
  int blocks = 0;
  do {
    blocks = 0;
    for (std::size_t c = 0; c < 4; ++c) {
      SamplingFactors& factors = c == 3 ? options.black : options.factors[c];
      constexpr int kFactors[] = {1, 1, 2, 4};
      factors = {kFactors[random.below(4)], kFactors[random.below(4)]};
      blocks += factors.h * factors.v;
    }
  } while (blocks > 10);
}

TEST(FourComponents, UsualSamplings) {
  for (const bool is_ycck : {false, true})
    for (const int luma : {0x11, 0x21, 0x12, 0x22})
      for (const Size size : kSizes) {
        SCOPED_TRACE(to_string(size) + (is_ycck ? " YCCK " : " CMYK ") + std::to_string(luma));
        LibjpegOptions options = four(is_ycck);
        options.factors[0] = options.black = {luma >> 4, luma & 15};
        options.optimal = size.width % 2 == 0;
        compare_decode(sample_of(size, options), {.threads = {1, 3}});
        if (HasFailure()) return;
      }
}

TEST(FourComponents, AnySamplingScansAndRestartIntervals) {
  const ScanScript scripts[] = {{}, {{0}, {1}, {2}, {3}}, {{0, 3}, {1, 2}}, {{3}, {0, 1, 2}}};
  Random random(14);
  for (int round = 0; round < (kSanitized ? 20 : 60); ++round) {
    LibjpegOptions options = four(round % 2 == 1);
    choose_factors(random, options);
    options.quality = random.between(30, 100);
    options.progressive = round % 3 == 2;
    if (!options.progressive) options.scans = scripts[random.below(4)];
    if (random.below(2) == 0) options.restart_mcus = random.between(1, 9);
    const Size size{random.between(1, 140), random.between(1, 90)};
    SCOPED_TRACE("round " + std::to_string(round) + ", " + to_string(size));
    const Bytes jpeg = sample_of(size, options, static_cast<std::uint64_t>(round));
    ASSERT_FALSE(jpeg.empty());
    compare_decode(jpeg, {.threads = {1, 3}});
    if (HasFailure()) return;
  }
}

/// Large enough for parts of an interval on several threads.
TEST(FourComponents, ThreadsChangeNothing) {
  for (const int black : {1, 2})
    for (const bool is_progressive : {false, true}) {
      if (kSanitized && black == 2) continue;
      LibjpegOptions options = four(true);
      options.progressive = is_progressive;
      options.quality = 95;
      options.factors[0] = options.black = {black, black};
      compare_decode(sample_of({800, 600}, options), {.threads = {5}});
    }
}

/// By libjpeg's rule: without an Adobe segment the samples are inks, with one they are inverted,
/// and every transform but 0 is YCCK. JFIF does not count.
TEST(FourComponents, AdobesSegmentTellsTheModel) {
  const Bytes cmyk = sample_of({40, 24}, four(false)), ycck = sample_of({40, 24}, four(true));
  EXPECT_EQ(inspect(cmyk)->color, ColorModel::inverted_cmyk);
  EXPECT_EQ(inspect(ycck)->color, ColorModel::ycck);
  const Bytes plain = without_segments(cmyk, kApp14);
  EXPECT_EQ(inspect(plain)->color, ColorModel::cmyk);
  compare_decode(plain);
  const auto jfif = make_segment(0xE0, {'J', 'F', 'I', 'F', 0, 1, 1, 0, 0, 1, 0, 1, 0, 0});
  const Bytes with_jfif = with_inserted(ycck, 2, jfif);
  EXPECT_EQ(inspect(with_jfif)->color, ColorModel::ycck);
  compare_decode(with_jfif);
  for (const int transform : {1, 3, 255}) {
    const auto adobe = make_segment(kApp14, {'A', 'd', 'o', 'b', 'e', 0, 100, 0, 0, 0, 0,
                                             static_cast<std::uint8_t>(transform)});
    const Bytes lies = with_inserted(plain, 2, adobe);
    EXPECT_EQ(inspect(lies)->color, ColorModel::ycck);
    compare_decode(lies, {.clean = false, .threads = {1}});
  }
}

TEST(FourComponents, StreamInfoTells) {
  LibjpegOptions options = four(true);
  options.factors[0] = options.black = {2, 2};
  options.quality = 83;
  const auto ycck = inspect(sample_of({40, 24}, options));
  EXPECT_EQ(ycck->subsampling, Subsampling::s420);
  EXPECT_EQ(ycck->quality, 83);
  options.black = {1, 1};
  EXPECT_EQ(inspect(sample_of({40, 24}, options))->subsampling, std::nullopt);
  options = four(false);
  options.quality = 71;
  const auto cmyk = inspect(sample_of({40, 24}, options));
  EXPECT_EQ(cmyk->components.size(), 4u);
  EXPECT_EQ(cmyk->quality, 71);
}

TEST(FourComponents, InksAreNoFormatOfOtherStreamsOrOfEncoders) {
  const Bytes ycc = libjpeg_sample(16, 8, Subsampling::s420);
  Decoder decoder = cpu_decoder();
  Frame frame;
  EXPECT_EQ(decoder.decode(ycc, PixelFormat::cmyk32, frame).status().code(), Errc::pixel_format);
  ASSERT_TRUE(decoder.decode(sample_of({16, 8}, four(false)), PixelFormat::cmyk32, frame).is_ok());
  Bytes out;
  EXPECT_EQ(cpu_encoder().encode(std::as_const(frame).view(), out).status().code(),
            Errc::invalid_frame);
}

/// Every YCbCr format is made of the RGB picture as an encoder makes it.
TEST(FourComponents, OtherFormatsComeFromRgb) {
  const Bytes jpeg = sample_of({37, 21}, four(true));
  Decoder decoder = cpu_decoder();
  TestFrame rgb(PixelFormat::rgb24, 37, 21), bgrx(PixelFormat::bgrx32, 37, 21);
  TestFrame ycc(PixelFormat::yuv444p, 37, 21);
  ASSERT_TRUE(decoder.decode(jpeg, rgb.view()).is_ok());
  ASSERT_TRUE(decoder.decode(jpeg, bgrx.view()).is_ok());
  ASSERT_TRUE(decoder.decode(jpeg, ycc.view()).is_ok());
  for (int y = 0; y < 21; ++y)
    for (int x = 0; x < 37; ++x) {
      const std::uint8_t *p = rgb.row(0, y) + 3 * x, *q = bgrx.row(0, y) + 4 * x;
      ASSERT_TRUE(p[0] == q[2] && p[1] == q[1] && p[2] == q[0] && q[3] == 255);
      ASSERT_NEAR(ycc.row(1, y)[x], 128 - 0.168736 * p[0] - 0.331264 * p[1] + 0.5 * p[2], 1);
    }
}

/// Damage conceals the rest of its interval in all four components, and is an error with `strict`.
TEST(FourComponents, DamageIsConcealedAndCounted) {
  for (const bool is_progressive : {false, true}) {
    LibjpegOptions options = four(true);
    options.progressive = is_progressive;
    options.restart_rows = 2;
    const Bytes whole = sample_of({120, 90}, options);
    int decoded = 0;
    for (std::size_t bytes = 700; bytes < whole.size() - 2; bytes += 97) {
      SCOPED_TRACE(bytes);
      const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(bytes));
      std::vector<ComponentPlane> planes, scalars;
      const auto report = cpu_decoder().decode_planes(cut, planes);
      if (!report.is_ok()) continue;  // it ends inside a header
      ++decoded;
      EXPECT_FALSE(report->first_problem.is_ok());
      if (!is_progressive) {
        EXPECT_GT(report->concealed_intervals, 0);
      }
      EXPECT_LE(report->concealed_intervals, report->intervals);
      const auto again =
          cpu_decoder({.instruction_set = InstructionSet::scalar}).decode_planes(cut, scalars);
      ASSERT_TRUE(again.is_ok());
      EXPECT_EQ(again->concealed_intervals, report->concealed_intervals);
      for (std::size_t c = 0; c < 4; ++c) EXPECT_EQ(planes[c].samples, scalars[c].samples);
      EXPECT_FALSE(cpu_decoder({.strict = true}).decode_planes(cut, planes).is_ok());
    }
    EXPECT_GT(decoded, 5);
  }
}

}  // namespace
}  // namespace zerorun::test
