// Raw pictures. YUV4MPEG2: every tag, every malformed header, round trips, ranges and depths. PBM,
// PGM, PPM: all six kinds, several images in a stream, every malformed header.
// SPDX-License-Identifier: MIT
#include "io/raw/y4m_header.hpp"

#include <cstdint>
#include <filesystem>
#include <utility>

#include "tests/io/support.hpp"
#include "tests/support/test_frame.hpp"

namespace zerorun::test {
namespace {

Result<std::unique_ptr<io::FrameSource>> open_raw(const std::string& path,
                                                  const io::SourceOptions& options = {}) {
  return io::open_frames({path, "", {}}, options);
}

TEST(Y4mHeader, ReadsEveryColourTag) {
  const std::pair<const char*, PixelFormat> tags[] = {
      {"420jpeg", PixelFormat::yuv420p},  {"420mpeg2", PixelFormat::yuv420p},
      {"420paldv", PixelFormat::yuv420p}, {"420", PixelFormat::yuv420p},
      {"422", PixelFormat::yuv422p},      {"444", PixelFormat::yuv444p},
      {"440", PixelFormat::yuv440p},      {"411", PixelFormat::yuv411p},
      {"mono", PixelFormat::gray8},       {"444alpha", PixelFormat::yuv444p},
      {"420p10", PixelFormat::yuv420p},   {"422p12", PixelFormat::yuv422p},
      {"444p16", PixelFormat::yuv444p},   {"mono16", PixelFormat::gray8}};
  for (const auto& [tag, format] : tags) {
    auto header = io::parse_y4m_header("YUV4MPEG2 W5 H3 C" + std::string(tag));
    ASSERT_TRUE(header) << tag << ": " << why(header);
    EXPECT_EQ(header->format, format) << tag;
    // As in FFmpeg: grey without a range is full, everything else limited.
    EXPECT_EQ(header->full_range, format == PixelFormat::gray8) << tag;
  }
  EXPECT_EQ(io::parse_y4m_header("YUV4MPEG2 W5 H3 C420p10")->depth_bits, 10);
  EXPECT_EQ(io::parse_y4m_header("YUV4MPEG2 W5 H3 Cmono12")->depth_bits, 12);
  EXPECT_TRUE(io::parse_y4m_header("YUV4MPEG2 W5 H3 C444alpha")->has_alpha);
}

TEST(Y4mHeader, ReadsTheRest) {
  auto header = io::parse_y4m_header(
      "YUV4MPEG2 W720 H576 F30000:1001 It A16:11 C420mpeg2 XYSCSS=420MPEG2 XCOLORRANGE=FULL");
  ASSERT_TRUE(header) << why(header);
  EXPECT_EQ(header->frame_rate, (io::Rational{30000, 1001}));
  EXPECT_EQ(header->sample_aspect, (io::Rational{16, 11}));
  EXPECT_EQ(header->interlace, 't');
  EXPECT_TRUE(header->full_range);
  EXPECT_EQ(header->frame_bytes(), 720u * 576u * 3 / 2);
  header = io::parse_y4m_header("YUV4MPEG2 H3 W5 F0:0 A0:0");  // no C: 4:2:0
  ASSERT_TRUE(header);
  EXPECT_FALSE(header->frame_rate.known());
  EXPECT_EQ(header->sample_aspect, (io::Rational{1, 1}));
  EXPECT_EQ(header->frame_bytes(), 15u + 6u + 6u);
}

TEST(Y4mHeader, RefusesMalformedOnes) {
  for (const char* bad : {"",
                          "YUV4MPEG",
                          "YUV4MPEG2X W5 H3",
                          "YUV4MPEG2 H3",
                          "YUV4MPEG2 W5",
                          "YUV4MPEG2 W0 H3",
                          "YUV4MPEG2 W-5 H3",
                          "YUV4MPEG2 W65536 H3",
                          "YUV4MPEG2 W5x H3",
                          "YUV4MPEG2 W H3",
                          "YUV4MPEG2 W99999999999999999999 H3",
                          "YUV4MPEG2 W5 H3 F30",
                          "YUV4MPEG2 W5 H3 F30:0",
                          "YUV4MPEG2 W5 H3 F-1:1",
                          "YUV4MPEG2 W5 H3 F30:1:1",
                          "YUV4MPEG2 W5 H3 A1",
                          "YUV4MPEG2 W5 H3 C",
                          "YUV4MPEG2 W5 H3 C421",
                          "YUV4MPEG2 W5 H3 C420p17",
                          "YUV4MPEG2 W5 H3 C420p8",
                          "YUV4MPEG2 W5 H3 C411p10x",
                          "YUV4MPEG2 W5 H3 Ix",
                          "YUV4MPEG2 W5 H3 Itt",
                          "YUV4MPEG2 W5 H3 XCOLORRANGE=half",
                          "YUV4MPEG2 W5 H3 Q1"}) {
    auto header = io::parse_y4m_header(bad);
    ASSERT_FALSE(header) << bad;
    EXPECT_EQ(header.status().code(), Errc::bad_input) << bad;
  }
  EXPECT_EQ(io::parse_y4m_header("YUV4MPEG2 W65535 H65535").status().code(), Errc::too_many_pixels);
}

class Y4mRoundTrip : public testing::TestWithParam<PixelFormat> {};

TEST_P(Y4mRoundTrip, GivesTheSameSamples) {
  const ScratchFolder scratch;
  const std::string path = scratch.path("a.y4m");
  std::vector<std::vector<std::uint8_t>> written;
  {
    io::SinkOptions options = sink_options(13, 7);
    options.sample_aspect = {12, 11};
    auto sink = opened(io::open_frame_sink({path, "", {}}, options));
    ASSERT_EQ(sink->wanted_format(GetParam()), GetParam());
    for (std::uint64_t i = 0; i < 3; ++i) {
      const TestFrame frame = make_frame(Content::noise, GetParam(), 13, 7, i, Layout::bottom_up);
      written.push_back(frame.packed());
      ASSERT_TRUE(sink->write(frame.view(), {}));
    }
    ASSERT_TRUE(sink->finish());
    EXPECT_EQ(sink->bytes_written(), static_cast<std::int64_t>(std::filesystem::file_size(path)));
  }
  io::SourceInfo info;
  const ReadFrames read = read_frames(path, {}, &info);
  EXPECT_EQ(info.format, GetParam());
  EXPECT_EQ(info.frame_rate, (io::Rational{30000, 1001}));
  EXPECT_EQ(info.time_base, (io::Rational{1001, 30000}));
  EXPECT_EQ(info.sample_aspect, (io::Rational{12, 11}));
  EXPECT_EQ(info.frame_count, 3);
  EXPECT_EQ(read.samples, written);
  ASSERT_EQ(read.times.size(), 3u);
  EXPECT_EQ(read.times[2].pts, 2);
}

INSTANTIATE_TEST_SUITE_P(Planar, Y4mRoundTrip,
                         testing::Values(PixelFormat::gray8, PixelFormat::yuv420p,
                                         PixelFormat::yuv422p, PixelFormat::yuv444p,
                                         PixelFormat::yuv440p, PixelFormat::yuv411p));

TEST(Y4m, LimitedRangeBecomesFull) {
  const ScratchFolder scratch;
  // 2x2: four Y, then 4:2:2 chroma of one column: two Cb, two Cr.
  const std::string planes("\x10\xEB\x00\xFF\x7D\x10\xF0\x80", 8);
  const std::string path = scratch.write("a.y4m", "YUV4MPEG2 W2 H2 C422\nFRAME\n" + planes);
  const ReadFrames read = read_frames(path);
  ASSERT_EQ(read.samples.size(), 1u);
  // (16-16)*255/219 = 0, (235-16)*255/219 = 255, clipped ends; 128+(125-128)*255/224 = 124.58,
  // 128-127.5 = 0.5 -> away from zero: 128-128 = 0; 240 -> 255.5 -> clipped 255; 128 -> 128.
  EXPECT_THAT(read.samples[0], testing::ElementsAre(0, 255, 0, 255, 125, 0, 255, 128));
}

TEST(Y4m, DamageIsNamedWithItsFrame) {
  const ScratchFolder scratch;
  const std::string head = "YUV4MPEG2 W2 H2 Cmono XCOLORRANGE=FULL\n";
  for (const std::string& tail : {std::string("FRAME\nabc"), std::string("FRAMEX\nabcd"),
                                  std::string("GARBAGE"), "FRAME " + std::string(1000, 'x')}) {
    auto source = opened(open_raw(scratch.write("a.y4m", head + "FRAME\nabcd" + tail)));
    Frame frame;
    io::FrameTime time;
    auto first = source->read(frame, time);
    ASSERT_TRUE(first && *first) << tail;
    auto second = source->read(frame, time);
    ASSERT_FALSE(second) << tail;
    EXPECT_EQ(second.status().code(), Errc::bad_input);
    EXPECT_THAT(second.status().detail(), testing::HasSubstr("frame 1"));
  }
  EXPECT_EQ(
      open_raw(scratch.write("b.y4m", "YUV4MPEG2 " + std::string(100000, 'X'))).status().code(),
      Errc::bad_input);
  EXPECT_EQ(open_raw(scratch.write("c.y4m", "YUV4MPEG2 W2 H2")).status().code(), Errc::bad_input);
  EXPECT_EQ(open_raw(scratch.write("d.y4m", std::string())).status().code(), Errc::bad_input);
  EXPECT_EQ(open_raw(scratch.path("absent.y4m")).status().code(), Errc::open_failed);
}

TEST(Y4m, RangeRateAndFormatAsAskedFor) {
  const ScratchFolder scratch;
  std::string text = "YUV4MPEG2 W1 H1 Cmono F25:1\n";
  for (char c = 'a'; c < 'h'; ++c) text += std::string("FRAME\n") + c;
  const std::string path = scratch.write("a.y4m", text);
  io::SourceOptions options;
  options.first_frame = 2;
  options.last_frame = 5;
  options.frame_rate = {50, 1};
  options.pixel_format = PixelFormat::rgb24;
  io::SourceInfo info;
  const ReadFrames read = read_frames(path, options, &info);
  EXPECT_EQ(info.frame_count, 3);
  EXPECT_EQ(info.first_pts, 2);
  EXPECT_EQ(info.frame_rate, (io::Rational{50, 1}));
  EXPECT_EQ(info.format, PixelFormat::rgb24);
  ASSERT_EQ(read.samples.size(), 3u);
  EXPECT_THAT(read.samples[0], testing::ElementsAre('c', 'c', 'c'));
  EXPECT_EQ(read.times[0].pts, 2);
  options.first_frame = 6;
  options.last_frame = 4;
  EXPECT_EQ(open_raw(path, options).status().code(), Errc::invalid_argument);
  options.first_frame = 100;
  options.last_frame = -1;
  EXPECT_TRUE(read_frames(path, options).samples.empty());
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
    auto source = open_raw(path);
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
    auto source = open_raw(path);
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
    auto source = open_raw(scratch.write("a.pnm", bad));
    ASSERT_FALSE(source) << bad;
    EXPECT_EQ(source.status().code(), Errc::bad_input) << bad;
  }
  EXPECT_EQ(open_raw(scratch.write("a.pnm", "P5 65535 65535 255\n")).status().code(),
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
