// The encoder gives the same stream for a picture in every memory layout, and keeps its promises
// about sizes.
// SPDX-License-Identifier: MIT
#include <string>

#include "tests/oracle/compare.hpp"
#include "tests/support/libjpeg_decode.hpp"
#include "tests/support/resources.hpp"
#include "tests/support/test_data.hpp"
#include "tests/support/test_frame.hpp"

namespace zerorun::test {
namespace {

constexpr Size kInputSizes[] = {{1, 1},  {2, 2},   {3, 5},   {8, 8},
                                {17, 9}, {33, 31}, {64, 48}, {97, 55}};

EncodeParams plain() {
  EncodeParams params;
  params.restart = RestartPolicy::none();
  params.threads = 1;
  return params;
}

TEST(EncodeInput, SemiPlanarAndPackedYuvEqualPlanar) {
  for (const Size size : kInputSizes) {
    for (const PixelFormat format :
         {PixelFormat::nv12, PixelFormat::nv21, PixelFormat::yuyv, PixelFormat::uyvy}) {
      SCOPED_TRACE(std::string(name(format)) + " " + to_string(size));
      const PixelFormat planar = planar_format(native_subsampling(format));
      const TestFrame frame = make_frame(Content::noise, planar, size.width, size.height, 3);
      EXPECT_EQ(encoded_on_cpu(rearrange(frame, format).view(), plain()),
                encoded_on_cpu(frame.view(), plain()));
    }
  }
}

/// libjpeg reads each order itself. The fourth byte of a pixel has no effect.
TEST(EncodeInput, RgbOrdersEqualLibjpegs) {
  struct Order {
    PixelFormat format;
    PixelInput input;
    int bytes;
  };
  for (const Size size : kInputSizes) {
    const TestFrame rgb =
        make_frame(Content::noise, PixelFormat::rgb24, size.width, size.height, 5);
    for (const Order order : {Order{PixelFormat::rgb24, PixelInput::rgb, 3},
                              Order{PixelFormat::bgr24, PixelInput::bgr, 3},
                              Order{PixelFormat::rgbx32, PixelInput::rgbx, 4},
                              Order{PixelFormat::bgrx32, PixelInput::bgrx, 4},
                              Order{PixelFormat::xrgb32, PixelInput::xrgb, 4},
                              Order{PixelFormat::xbgr32, PixelInput::xbgr, 4}}) {
      SCOPED_TRACE(std::string(name(order.format)) + " " + to_string(size));
      const TestFrame frame = rearrange(rgb, order.format, 0x3C);
      LibjpegOptions options = libjpeg_options(plain());
      options.factors = factors_of(Subsampling::s420);
      const Bytes ours = encoded_on_cpu(frame.view(), plain());
      EXPECT_TRUE(same_stream(
          ours, libjpeg_encode_pixels(size.width, size.height, order.input, frame.row(0, 0),
                                      order.bytes * size.width, options)));
      EXPECT_EQ(encoded_on_cpu(rearrange(rgb, order.format, 0xFF).view(), plain()), ours);
    }
  }
}

/// Encodes 4:4:4 planes with another sampling: libjpeg down-samples YCbCr pixels the same way.
TEST(EncodeInput, PlanarDownSamplingEqualsLibjpegs) {
  for (const Size size : kInputSizes) {
    const TestFrame frame =
        make_frame(Content::noise, PixelFormat::yuv444p, size.width, size.height, 12);
    std::vector<std::uint8_t> pixels;
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x)
        for (int p = 0; p < 3; ++p) pixels.push_back(frame.row(p, y)[x]);
    for (const Subsampling sampling : kAllSubsamplings) {
      SCOPED_TRACE(std::string(name(sampling)) + " " + to_string(size));
      EncodeParams params = plain();
      params.subsampling = sampling;
      LibjpegOptions options = libjpeg_options(params);
      options.factors = factors_of(sampling);
      EXPECT_TRUE(same_stream(
          encoded_on_cpu(frame.view(), params),
          libjpeg_encode_pixels(size.width, size.height, PixelInput::ycbcr, pixels.data(),
                                3 * size.width, options, sampling == Subsampling::gray)));
    }
  }
}

/// Photos of the corpora, where there are any: real detail, real noise, 8 megapixels.
TEST(EncodeInput, PhotosEqualLibjpegs) {
  if (!test_data()) GTEST_SKIP() << kNoTestData;
  for (const char* photo : {"photos4k/street.jpg", "photos4k/mosaic_a.jpg"}) {
    Pixels pixels;
    ASSERT_TRUE(
        libjpeg_pixels(read_file(*test_data() / photo), PixelOutput::rgb, true, pixels).delivered);
    const ConstFrameView frame{PixelFormat::rgb24,
                               pixels.width,
                               pixels.height,
                               {pixels.samples.data()},
                               {3 * pixels.width}};
    for (const int quality : {60, 92}) {
      SCOPED_TRACE(std::string(photo) + ", quality " + std::to_string(quality));
      EncodeParams params = plain();
      params.quality = quality;
      params.threads = 2;
      params.huffman = quality == 60 ? HuffmanTables::optimal : HuffmanTables::standard;
      LibjpegOptions options = libjpeg_options(params);
      options.factors = factors_of(Subsampling::s420);
      const Bytes none = encoded_on_cpu(frame, params);
      EXPECT_TRUE(same_stream(
          none, libjpeg_encode_pixels(pixels.width, pixels.height, PixelInput::rgb,
                                      pixels.samples.data(), 3 * pixels.width, options)));
      params.restart = RestartPolicy::automatic();
      const auto automatic = static_cast<double>(encoded_on_cpu(frame, params).size());
      EXPECT_LE(automatic, 1.015 * static_cast<double>(none.size()));
    }
  }
}

TEST(EncodeInput, StridesAndPaddingDoNotMatter) {
  for (const PixelFormat format : kAllFormats) {
    for (const Size size : kInputSizes) {
      SCOPED_TRACE(std::string(name(format)) + " " + to_string(size));
      const TestFrame tight = make_frame(Content::noise, format, size.width, size.height, 4);
      const Bytes expected = encoded_on_cpu(tight.view(), plain());
      for (const Layout layout : {Layout::padded, Layout::bottom_up}) {
        TestFrame frame = make_frame(Content::noise, format, size.width, size.height, 4, layout);
        EXPECT_EQ(encoded_on_cpu(frame.view(), plain()), expected);
        frame.repoison(0x5A);
        EXPECT_EQ(encoded_on_cpu(frame.view(), plain()), expected);
      }
    }
  }
}

/// The largest blocks: extreme samples, quantiser 1, a restart marker after each MCU.
TEST(EncodeInput, TheBoundHoldsForTheWorstPictures) {
  for (const PixelFormat format :
       {PixelFormat::gray8, PixelFormat::yuv420p, PixelFormat::yuv444p, PixelFormat::yuv411p}) {
    for (const Size size : kInputSizes) {
      for (const Content content : {Content::extreme, Content::noise, Content::checker}) {
        for (const auto& [tables, progressive] :
             {std::pair{HuffmanTables::standard, false}, std::pair{HuffmanTables::optimal, false},
              std::pair{HuffmanTables::standard, true}}) {
          EncodeParams params = plain();
          params.quality = 100;
          params.restart = RestartPolicy::mcus(1);
          params.huffman = tables;
          params.progressive = progressive;
          params.segments = {{0xFE, std::vector<std::uint8_t>(100, 0xFF)}};
          const auto bound = max_encoded_bytes(params, format, size.width, size.height);
          ASSERT_TRUE(bound.is_ok()) << bound.status().message();
          const TestFrame frame = make_frame(content, format, size.width, size.height, 2);
          EXPECT_LE(encoded_on_cpu(frame.view(), params).size(), *bound);
        }
      }
    }
  }
}

/// RestartPolicy::automatic() promises "at most 1.5 % of any stream". Flat pictures have the
/// shortest blocks, so they test it.
TEST(EncodeInput, AutomaticRestartCostsLittle) {
  constexpr Size kPictures[] = {{16, 16}, {64, 64}, {320, 240}, {1280, 720}, {2000, 40}};
  for (const Size size : kPictures) {
    for (const Content content :
         {Content::flat, Content::gradient, Content::photo, Content::noise}) {
      for (const PixelFormat format : {PixelFormat::yuv420p, PixelFormat::gray8}) {
        for (const int quality : {10, 90}) {
          for (const auto tables : {HuffmanTables::standard, HuffmanTables::optimal}) {
            if (kSanitized && size.width > 320) continue;
            SCOPED_TRACE(std::string(name(content)) + " " + to_string(size) + " " +
                         std::string(name(format)) + " quality " + std::to_string(quality));
            const TestFrame frame = make_frame(content, format, size.width, size.height, 17);
            EncodeParams params = plain();
            params.quality = quality;
            params.huffman = tables;
            const auto none = static_cast<double>(encoded_on_cpu(frame.view(), params).size());
            params.restart = RestartPolicy::automatic();
            const auto automatic = static_cast<double>(encoded_on_cpu(frame.view(), params).size());
            EXPECT_LE(automatic, none * 1.015);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace zerorun::test
