// Image files through OpenCV: round trips, depths, alpha, JPEG kinds that zerorun refuses, damage.
// SPDX-License-Identifier: MIT
#include <array>
#include <cstddef>

#include "tests/io/support.hpp"
#include "tests/support/libjpeg_encode.hpp"
#include "tests/support/test_data.hpp"
#include "tests/support/test_frame.hpp"

namespace zerorun::test {
namespace {

class Images : public testing::Test {
 protected:
  void SetUp() override {
    if (!io::features().opencv) GTEST_SKIP() << "built without OpenCV";
  }
  ScratchFolder scratch_;
};

TEST_F(Images, EveryFormatRoundTripsWithoutLoss) {
  for (const char* extension : {"png", "tiff", "tif", "bmp", "webp"})
    for (const PixelFormat format : {PixelFormat::rgb24, PixelFormat::gray8}) {
      const TestFrame frame = make_frame(Content::noise, format, 33, 21, 4, Layout::bottom_up);
      io::SinkOptions options = sink_options();
      options.overwrite = true;
      const std::string name = std::string("a.") + extension;
      auto sink = opened(io::open_frame_sink({scratch_.path(name), "", {}}, options));
      ASSERT_EQ(sink->wanted_format(format), format);
      ASSERT_TRUE(sink->write(frame.view(), {}));
      EXPECT_EQ(sink->write(frame.view(), {}).code(), Errc::unsupported_output);
      ASSERT_TRUE(sink->finish());
      io::SourceInfo info;
      const ReadFrames read = read_frames(scratch_.path(name), {}, &info);
      EXPECT_EQ(info.container, "image");
      EXPECT_EQ(info.frame_count, 1);
      ASSERT_EQ(read.samples.size(), 1u);
      std::vector<std::uint8_t> expected = frame.packed();
      if (info.format != format) {  // WebP has no grey
        ASSERT_STREQ(extension, "webp");
        std::vector<std::uint8_t> tripled;
        for (const std::uint8_t v : expected) tripled.insert(tripled.end(), 3, v);
        expected = tripled;
      }
      EXPECT_EQ(read.samples[0], expected) << extension;
    }
}

TEST_F(Images, SixteenBitsAlphaAndPalettesBecomeEightBitRgb) {
  if (!has_program("ffmpeg")) GTEST_SKIP() << "no ffmpeg program";
  const std::tuple<const char*, PixelFormat> kinds[] = {
      {"rgb48be", PixelFormat::rgb24},  {"rgba", PixelFormat::rgb24},
      {"rgba64be", PixelFormat::rgb24}, {"gray16be", PixelFormat::gray8},
      {"gray", PixelFormat::gray8},     {"ya8", PixelFormat::gray8},
      {"monob", PixelFormat::gray8}};
  scratch_.write("raw", std::string(16 * 16 * 8, '\xFF'));  // white and opaque in every format
  for (const auto& [pix_fmt, format] : kinds) {
    const std::string name = std::string(pix_fmt) + ".png";
    const std::string said =
        run(std::string("ffmpeg -v error -f rawvideo -s 16x16 -pix_fmt ") + pix_fmt + " -i '" +
            scratch_.path("raw") + "' -frames:v 1 '" + scratch_.path(name) + "' 2>&1");
    ASSERT_TRUE(scratch_.has(name)) << said;
    io::SourceInfo info;
    const ReadFrames read = read_frames(scratch_.path(name), {}, &info);
    EXPECT_EQ(info.format, format) << pix_fmt;
    EXPECT_THAT(read.samples[0], testing::Each(255)) << pix_fmt;
  }
}

TEST_F(Images, SixteenBitsAreRounded) {
  // 0x8080 is exactly 128 * 257; the two neighbours of 128.5 * 257 are rounded to different values.
  std::string raw;
  for (const int v : {0x0000, 0x8080, 33024, 33025, 0xFFFF, 0x7F7F, 128, 129}) {
    raw += static_cast<char>(v >> 8);
    raw += static_cast<char>(v);
  }
  if (!has_program("ffmpeg")) GTEST_SKIP() << "no ffmpeg program";
  scratch_.write("raw", raw);
  run("ffmpeg -v error -f rawvideo -pix_fmt gray16be -s 8x1 -i '" + scratch_.path("raw") + "' '" +
      scratch_.path("a.png") + "' 2>&1");
  EXPECT_THAT(read_frames(scratch_.path("a.png")).samples[0],
              testing::ElementsAre(0, 128, 128, 129, 255, 127, 0, 1));
}

TEST_F(Images, ProgressiveAndCmykStillsAreReadForFrames) {
  LibjpegOptions progressive;
  progressive.progressive = true;
  LibjpegOptions cmyk;
  cmyk.cmyk_stream = true;
  for (const LibjpegOptions& options : {progressive, cmyk}) {
    scratch_.write("a.jpg", libjpeg_sample(40, 30, Subsampling::s444, options));
    io::SourceInfo info;
    EXPECT_EQ(read_frames(scratch_.path("a.jpg"), {}, &info).samples[0].size(), 40u * 30 * 3);
    EXPECT_EQ(info.format, options.cmyk_stream ? PixelFormat::rgb24 : PixelFormat::yuv444p);
  }
}

/// T.81 table B.1: TEM and RSTn have no length; the frame header after them is found.
TEST_F(Images, MarkersWithoutALengthHideNoSize) {
  LibjpegOptions progressive;
  progressive.progressive = true;
  const auto whole = libjpeg_sample(40, 30, Subsampling::s444, progressive);
  for (const int code : {0x01, 0xD0, 0xD7}) {
    auto jpeg = whole;
    const std::array<std::byte, 2> marker{std::byte{0xFF}, static_cast<std::byte>(code)};
    jpeg.insert(jpeg.begin() + 2, marker.begin(), marker.end());
    scratch_.write("a.jpg", jpeg);
    io::SourceOptions options;
    options.limits.max_pixels = 40 * 30;
    const io::Location location{scratch_.path("a.jpg"), "", {}};
    EXPECT_TRUE(io::open_frames(location, options)) << code;
    options.limits.max_pixels = 40 * 30 - 1;
    EXPECT_EQ(io::open_frames(location, options).status().code(), Errc::too_many_pixels) << code;
  }
}

TEST_F(Images, DamagedOnesAreErrors) {
  const auto expect_bad = [&](const std::string& name, const std::string& content) {
    scratch_.write(name, content);
    const auto source = io::open_frames({scratch_.path(name), "", {}}, {});
    ASSERT_FALSE(source) << name;
    const ErrorGroup kind = group(source.status().code());
    EXPECT_TRUE(kind == ErrorGroup::io || kind == ErrorGroup::corrupt ||
                kind == ErrorGroup::capacity)
        << why(source);
    EXPECT_THAT(source.status().detail(), testing::HasSubstr(name));
  };
  expect_bad("a.png", std::string("\x89PNG\r\n\x1A\n", 8));
  expect_bad("b.png",
             std::string("\x89PNG\r\n\x1A\n\0\0\0\rIHDR\0\0\xFF\xFF\0\0\xFF\xFF\x08\x02", 26));
  expect_bad("a.bmp", std::string("BM\x46\0\0\0\0\0\0\0\x36\0\0\0", 14));
  expect_bad("a.tif", std::string("II*\0\x08\0\0\0", 8));
  expect_bad("a.webp", std::string("RIFF\x20\0\0\0WEBPVP8 ", 16));
  expect_bad("a.jpg", std::string("\xFF\xD8\xFF\xD9", 4));
  expect_bad("b.jpg", std::string("\xFF\xD8\xFF\xC0\x00\x02", 6));
}

TEST_F(Images, HostileJpegsEndInAnErrorOrAPicture) {
  const std::filesystem::path folder = project_tests() / "hostile";
  const auto data = test_data();
  const std::filesystem::path hostile =
      std::filesystem::exists(folder) ? folder : (data ? *data / "hostile" : folder);
  if (!std::filesystem::exists(hostile)) GTEST_SKIP() << kNoTestData;
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(hostile)) {
    if (entry.path().extension() != ".jpg") continue;
    const auto source = io::open_frames({entry.path().string(), "", {}}, {});
    Status status = source.status();
    if (source) {
      Frame frame;
      io::FrameTime time;
      status = (*source)->read(frame, time).status();
    }
    const ErrorGroup kind = group(status.code());
    EXPECT_TRUE(kind == ErrorGroup::none || kind == ErrorGroup::corrupt || kind == ErrorGroup::io ||
                kind == ErrorGroup::capacity)
        << entry.path() << status.message();
    ++count;
  }
  EXPECT_GT(count, 0);
}

}  // namespace
}  // namespace zerorun::test
