// PBM, PGM, PPM: all six kinds, several images in a stream, every malformed header.
// SPDX-License-Identifier: MIT
#include <cstdint>
#include <filesystem>
#include <utility>

#include "tests/io/support.hpp"
#include "tests/support/test_frame.hpp"

namespace zerorun::test {
namespace {

Result<std::unique_ptr<io::FrameSource>> open_pnm(const std::string& path) {
  return io::open_frames({path, "", {}}, {});
}

using Samples = std::vector<std::uint8_t>;

struct Case {
  std::string content;
  PixelFormat format;
  Samples samples;
};

TEST(Pnm, ReadsEveryKind) {
  const Case cases[] = {
      {"P1\n3 2\n0 1 0\n110", PixelFormat::gray8, {255, 0, 255, 0, 0, 255}},
      {"P2 # grey\n3 1 # comment\n10\n0 5 10\n", PixelFormat::gray8, {0, 128, 255}},
      {"P3\n1 2 255\n1 2 3\n4 5 6", PixelFormat::rgb24, {1, 2, 3, 4, 5, 6}},
      {std::string("P4 9 1\n\xAA\x80", 9), PixelFormat::gray8, {0, 255, 0, 255, 0, 255, 0, 255, 0}},
      {"P5 2 1 255\n\x07\xF0", PixelFormat::gray8, {7, 240}},
      {"P5\n2 1\n100\n\x32\x7F", PixelFormat::gray8, {128, 255}},
      {std::string("P5 3 1 65535\n\x00\x00\x80\x00\xFF\xFF", 19),
       PixelFormat::gray8,
       {0, 128, 255}},
      {"P6 1 1 255\nABC", PixelFormat::rgb24, {'A', 'B', 'C'}},
      {std::string("P6 1 1 1023\n\x03\xFF\x00\x00\x02\x00", 18), PixelFormat::rgb24, {255, 0, 128}},
  };
  const ScratchFolder scratch;
  for (const Case& one : cases) {
    io::SourceInfo info;
    const ReadFrames read = read_frames(scratch.write("a.pnm", one.content), {}, &info);
    EXPECT_EQ(info.format, one.format) << one.content;
    ASSERT_EQ(read.samples.size(), 1u) << one.content;
    EXPECT_EQ(read.samples[0], one.samples) << one.content;
  }
}

/// 16 of the pieces in which threads read a file, and a bit.
constexpr int kLargeWidth = 4099, kLargeHeight = 1367;

std::string large_samples() {
  std::string samples(std::size_t{kLargeWidth} * kLargeHeight * 3, '\0');
  std::uint32_t state = 1;
  for (char& sample : samples)
    sample = static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  return samples;
}

TEST(Pnm, ThreadsReadALargeImageInPieces) {
  const ScratchFolder scratch;
  const std::string samples = large_samples();
  const std::string header = "P6\n# at an odd place\n4099 1367\n255\n";
  const std::string path = scratch.write("large.ppm", "P5 1 1 255\nX" + header + samples);
  for (const int threads : {1, 2, 3, 7, 100}) {
    auto source = open_pnm(path);
    ASSERT_TRUE(source) << why(source);
    io::FrameWork small, large;
    ASSERT_TRUE((*source)->next(small) && (*source)->next(large));
    ASSERT_TRUE(large.load(threads));
    const ConstFrameView view = std::as_const(large.item).view();
    std::string read;
    for (int row = 0; row < view.height; ++row)
      read.append(reinterpret_cast<const char*>(view.data[0] + row * view.stride_bytes[0]),
                  3 * kLargeWidth);
    EXPECT_TRUE(read == samples) << threads << " threads";
  }
}

TEST(Pnm, AnImageThatBecomesShorterIsAnErrorOfEveryPiece) {
  const ScratchFolder scratch;
  const std::string all = "P6 4099 1367 255\n" + large_samples();
  for (const std::size_t left : {all.size() - 1, all.size() / 2, std::size_t{100}}) {
    const std::string path = scratch.write("large.ppm", "P5 1 1 255\nX" + all);
    auto source = open_pnm(path);
    ASSERT_TRUE(source) << why(source);
    io::FrameWork small, large;
    ASSERT_TRUE((*source)->next(small) && (*source)->next(large));
    std::filesystem::resize_file(path, left);
    const Status status = large.load(4);
    EXPECT_EQ(status.code(), Errc::bad_input) << left;
    EXPECT_NE(status.message().find("large.ppm"), std::string::npos) << status.message();
  }
}

TEST(Pnm, ReadsImagesOneAfterAnother) {
  const ScratchFolder scratch;
  const ReadFrames read = read_frames(
      scratch.write("a", "P5 1 1 255\nXP6 1 1 255\nabcP2 2 1 9 0 9 \n P5 1 1 255\n\n\n"));
  ASSERT_EQ(read.samples.size(), 4u);
  EXPECT_EQ(read.samples[0], Samples{'X'});
  EXPECT_EQ(read.samples[1], (Samples{'a', 'b', 'c'}));
  EXPECT_EQ(read.samples[2], (Samples{0, 255}));
  EXPECT_EQ(read.samples[3], Samples{'\n'});
}

TEST(Pnm, RefusesMalformedOnes) {
  const ScratchFolder scratch;
  for (const char* bad : {"P5 ",
                          "P5 0 1 255\n",
                          "P5 1 0 255\n",
                          "P5 -1 1 255\nX",
                          "P5 70000 1 255\n",
                          "P5 1 1 0\nX",
                          "P5 1 1 65536\nX",
                          "P5 1 1 x\nX",
                          "P5 1 1 255",
                          "P5 2 2 255\nabc",
                          "P5 1 1 256\nX",
                          "P6 1 1 255\nab",
                          "P4 9 1\nX",
                          "P2 2 1 255\n1",
                          "P2 1 1 255\nx",
                          "P2 1 1 255\n70000",
                          "P1 2 1\n12",
                          "P3 1 1 255 1 2",
                          "P5 1 1 255X",
                          "P5 60000 2000 255\n",
                          "P5 #"}) {
    auto source = open_pnm(scratch.write("a.pnm", bad));
    ASSERT_FALSE(source) << bad;
    EXPECT_EQ(source.status().code(), Errc::bad_input) << bad;
  }
  EXPECT_EQ(open_pnm(scratch.write("a.pnm", "P5 65535 65535 255\n")).status().code(),
            Errc::too_many_pixels);
}

TEST(Pnm, WritesWhatItReads) {
  const ScratchFolder scratch;
  const TestFrame gray = make_frame(Content::noise, PixelFormat::gray8, 5, 4, 1);
  const TestFrame rgb = make_frame(Content::noise, PixelFormat::rgb24, 5, 4, 2, Layout::padded);
  auto sink = opened(io::open_frame_sink({scratch.path("a.pnm"), "", {}}, sink_options()));
  EXPECT_EQ(sink->wanted_format(PixelFormat::gray8), PixelFormat::gray8);
  EXPECT_EQ(sink->wanted_format(PixelFormat::yuv420p), PixelFormat::rgb24);
  ASSERT_TRUE(sink->write(gray.view(), {}));
  ASSERT_TRUE(sink->write(rgb.view(), {}));
  ASSERT_TRUE(sink->finish());
  const ReadFrames read = read_frames(scratch.path("a.pnm"));
  EXPECT_THAT(read.samples, testing::ElementsAre(gray.packed(), rgb.packed()));
}

}  // namespace
}  // namespace zerorun::test
