// YUV4MPEG2: every tag, every malformed header, round trips, ranges and depths.
// SPDX-License-Identifier: MIT
#include <utility>

#include "io/raw/y4m_header.hpp"
#include "tests/io/support.hpp"
#include "tests/support/test_frame.hpp"

namespace zerorun::test {
namespace {

Result<std::unique_ptr<io::FrameSource>> open_y4m(const std::string& path,
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
    auto source = opened(open_y4m(scratch.write("a.y4m", head + "FRAME\nabcd" + tail)));
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
      open_y4m(scratch.write("b.y4m", "YUV4MPEG2 " + std::string(100000, 'X'))).status().code(),
      Errc::bad_input);
  EXPECT_EQ(open_y4m(scratch.write("c.y4m", "YUV4MPEG2 W2 H2")).status().code(), Errc::bad_input);
  EXPECT_EQ(open_y4m(scratch.write("d.y4m", std::string())).status().code(), Errc::bad_input);
  EXPECT_EQ(open_y4m(scratch.path("absent.y4m")).status().code(), Errc::open_failed);
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
  EXPECT_EQ(open_y4m(path, options).status().code(), Errc::invalid_argument);
  options.first_frame = 100;
  options.last_frame = -1;
  EXPECT_TRUE(read_frames(path, options).samples.empty());
}

TEST(Y4m, SinkRefusesAChangeOfSizeAndVariableRate) {
  const ScratchFolder scratch;
  auto sink = opened(io::open_frame_sink({scratch.path("a.y4m"), "", {}}, sink_options()));
  ASSERT_TRUE(sink->write(make_frame(Content::flat, PixelFormat::gray8, 8, 8, 1).view(), {}));
  EXPECT_EQ(sink->write(make_frame(Content::flat, PixelFormat::gray8, 9, 8, 1).view(), {}).code(),
            Errc::unsupported_output);
  io::SinkOptions variable = sink_options();
  variable.variable_frame_rate = true;
  EXPECT_EQ(io::open_frame_sink({scratch.path("b.y4m"), "", {}}, variable).status().code(),
            Errc::unsupported_output);
}

}  // namespace
}  // namespace zerorun::test
