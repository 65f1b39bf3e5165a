// The decoder gives libjpeg-turbo's coefficients, planes and pixels for every sampling and kind of
// table.
// SPDX-License-Identifier: MIT
#include <string>

#include "tests/oracle/compare.hpp"
#include "tests/support/libjpeg_decode.hpp"
#include "tests/support/random.hpp"
#include "tests/support/resources.hpp"
#include "tests/support/test_frame.hpp"

namespace zerorun::test {
namespace {

constexpr Size kStreamSizes[] = {{1, 1}, {2, 3}, {5, 1}, {17, 11}, {32, 16}, {83, 61}, {130, 35}};

class DecodeSampling : public testing::TestWithParam<std::size_t> {
 protected:
  LibjpegOptions options_;
  void SetUp() override { options_.factors = all_factors()[GetParam()]; }
};

TEST_P(DecodeSampling, OneInterleavedScan) {
  for (const Size size : kStreamSizes) {
    SCOPED_TRACE(to_string(size));
    options_.optimal = size.width % 2 == 0;
    compare_decode(odd_stream(size.width, size.height, options_, 40));
    if (HasFailure()) return;
  }
}

TEST_P(DecodeSampling, RestartIntervals) {
  for (const Size size : kStreamSizes) {
    for (const int interval : {1, 2, 9}) {
      SCOPED_TRACE(to_string(size) + ", restart " + std::to_string(interval));
      options_.restart_mcus = interval;
      compare_decode(odd_stream(size.width, size.height, options_, 41));
      if (HasFailure()) return;
    }
  }
}

TEST_P(DecodeSampling, SeveralScans) {
  const ScanScript scripts[] = {
      {{0}, {1}, {2}}, {{2}, {1}, {0}}, {{0}, {1, 2}}, {{1, 2}, {0}}, {{0, 2}, {1}}};
  for (const Size size : {Size{1, 1}, Size{17, 11}, Size{83, 61}}) {
    for (std::size_t s = 0; s < std::size(scripts); ++s) {
      SCOPED_TRACE(to_string(size) + ", script " + std::to_string(s));
      options_.scans = scripts[s];
      options_.restart_mcus = s % 2 == 0 ? 0 : 3;
      options_.optimal = s % 3 == 0;
      compare_decode(odd_stream(size.width, size.height, options_, 42));
      if (HasFailure()) return;
    }
  }
}

std::string sampling_name(const testing::TestParamInfo<std::size_t>& param) {
  std::string text = to_string(all_factors()[param.param]);
  for (char& c : text)
    if (c == ',') c = '_';
  return text;
}
INSTANTIATE_TEST_SUITE_P(All, DecodeSampling, testing::Range(std::size_t{0}, all_factors().size()),
                         sampling_name);

/// An MCU of more than 10 blocks is legal only in scans of one component.
TEST(DecodeSamples, FourByFourWithoutInterleaving) {
  LibjpegOptions options;
  options.factors = {{{4, 4}, {1, 1}, {1, 1}}};
  options.scans = {{0}, {1}, {2}};
  for (const Size size : kStreamSizes)
    compare_decode(odd_stream(size.width, size.height, options, 43));
  options.factors = {{{4, 4}, {2, 2}, {4, 4}}};
  for (const Size size : kStreamSizes)
    compare_decode(odd_stream(size.width, size.height, options, 44));
}

TEST(DecodeSamples, SixteenBitTablesAndExtendedSequential) {
  for (const int quality : {1, 2, 3, 5, 9}) {
    LibjpegOptions options;
    options.quality = quality;
    options.force_baseline = false;
    const Bytes jpeg = libjpeg_sample(67, 45, Subsampling::s420, options);
    ASSERT_NE(parse_headers(jpeg).find(0xC1), nullptr);  // SOF1
    compare_decode(jpeg);
  }
}

TEST(DecodeSamples, EveryContent) {
  for (const Content content : kContents) {
    for (const Subsampling sampling : kAllSubsamplings) {
      for (const int quality : {30, 100}) {
        SCOPED_TRACE(std::string(name(content)) + " " + std::string(name(sampling)));
        const TestFrame frame = make_frame(content, planar_format(sampling), 75, 50, 9);
        LibjpegOptions options;
        options.quality = quality;
        options.optimal = quality == 100;
        compare_decode(libjpeg_encode_frame(frame.view(), options), {.threads = {1, 2}});
      }
    }
  }
}

TEST(DecodeSamples, RandomSmallStreams) {
  Random random(77);
  const auto factors = all_factors();
  for (int i = 0; i < (kSanitized ? 60 : 500) && !testing::Test::HasFailure(); ++i) {
    LibjpegOptions options;
    options.factors = factors[static_cast<std::size_t>(random.below(int(factors.size())))];
    options.quality = random.between(1, 100);
    options.optimal = random.below(2) == 1;
    options.restart_mcus = random.below(3) == 0 ? random.between(1, 5) : 0;
    const int width = random.between(1, 50), height = random.between(1, 50);
    SCOPED_TRACE(to_string(options.factors) + " " + std::to_string(width) + "x" +
                 std::to_string(height) + ", quality " + std::to_string(options.quality));
    compare_decode(odd_stream(width, height, options, random.next()), {.threads = {1}});
  }
}

/// Enough intervals and enough bits for every split among threads.
TEST(DecodeSamples, LargerPictures) {
  for (const Subsampling sampling : kAllSubsamplings) {
    for (const int rows : {0, 1}) {
      if (kSanitized && rows != static_cast<int>(sampling) % 2) continue;
      LibjpegOptions options;
      options.restart_rows = rows;
      compare_decode(libjpeg_sample(643, 365, sampling, options), {.threads = {1, 2, 5}});
    }
  }
}

Result<DecodeReport> decode_into(const Bytes& jpeg, TestFrame& frame) {
  return cpu_decoder().decode(jpeg, frame.view());
}

/// A stream in its own sampling: planar output is the component planes, the others re-order it.
TEST(DecodeSamples, NativeFormatsAreTheComponentPlanes) {
  for (const Subsampling sampling : kAllSubsamplings) {
    for (const Size size : kStreamSizes) {
      SCOPED_TRACE(std::string(name(sampling)) + " " + to_string(size));
      const Bytes jpeg = libjpeg_sample(size.width, size.height, sampling);
      std::vector<ComponentPlane> planes;
      ASSERT_TRUE(libjpeg_planes(jpeg, planes).clean());
      std::vector<std::uint8_t> expected;
      for (const ComponentPlane& plane : planes)
        expected.insert(expected.end(), plane.samples.begin(), plane.samples.end());
      TestFrame planar(planar_format(sampling), size.width, size.height, Layout::bottom_up);
      ASSERT_TRUE(decode_into(jpeg, planar).is_ok());
      EXPECT_EQ(planar.packed(), expected);
      for (const PixelFormat format :
           {PixelFormat::nv12, PixelFormat::nv21, PixelFormat::yuyv, PixelFormat::uyvy}) {
        if (native_subsampling(format) != sampling) continue;
        TestFrame frame(format, size.width, size.height, Layout::padded);
        ASSERT_TRUE(decode_into(jpeg, frame).is_ok());
        const TestFrame again = rearrange(planar, format);
        if (size.width % 2 == 1 && plane_count(format) == 1) {
          // The last group of YUYV has a luma sample outside the picture, of any value.
          const std::size_t luma = frame.row_bytes(0) - (format == PixelFormat::yuyv ? 2 : 1);
          for (int y = 0; y < size.height; ++y) frame.row(0, y)[luma] = again.row(0, y)[luma];
        }
        EXPECT_EQ(frame.packed(), again.packed()) << name(format);
      }
    }
  }
}

/// The six RGB orders hold the same pixels; the fourth byte is 255.
TEST(DecodeSamples, RgbOrdersHoldTheSamePixels) {
  for (const Subsampling sampling : kAllSubsamplings) {
    const Bytes jpeg = libjpeg_sample(35, 22, sampling);
    TestFrame rgb(PixelFormat::rgb24, 35, 22);
    ASSERT_TRUE(decode_into(jpeg, rgb).is_ok());
    for (const PixelFormat format : {PixelFormat::bgr24, PixelFormat::rgbx32, PixelFormat::bgrx32,
                                     PixelFormat::xrgb32, PixelFormat::xbgr32}) {
      TestFrame frame(format, 35, 22, Layout::padded);
      ASSERT_TRUE(decode_into(jpeg, frame).is_ok());
      EXPECT_EQ(frame.packed(), rearrange(rgb, format, 255).packed()) << name(format);
    }
  }
}

}  // namespace
}  // namespace zerorun::test
