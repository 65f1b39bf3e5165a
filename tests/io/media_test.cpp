// Video through libavcodec: layouts, ranges, matrices, depths, time, damage.
// SPDX-License-Identifier: MIT
#include <cmath>

#include "io/samples/samples.hpp"
#include "tests/io/support.hpp"

namespace zerorun::test {
namespace {

/// Lossless clips made by the ffmpeg program from one raw picture.
class Media : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_program("ffmpeg")) GTEST_SKIP() << "no ffmpeg program";
  }

  /// `options` follow the input, which is raw video of `pix_fmt` and 48x32.
  std::string make(const std::string& pix_fmt, const std::string& raw, const std::string& options,
                   const std::string& name = "a.mkv") {
    scratch_.write("raw", raw);
    const std::string path = scratch_.path(name);
    const std::string said =
        run("ffmpeg -v error -y -f rawvideo -s 48x32 -pix_fmt " + pix_fmt + " -i '" +
            scratch_.path("raw") + "' " + options + " '" + path + "' 2>&1");
    EXPECT_EQ(said, "");
    return path;
  }

  /// FFV1 whose samples are the raw ones. FFmpeg 7 converts them unless the input has the tags,
  /// too.
  std::string make_tagged(const std::string& pix_fmt, const std::string& raw,
                          const std::string& range, const std::string& matrix) {
    return make(pix_fmt, raw,
                "-vf setparams=range=" + range + ":colorspace=" + matrix +
                    " -c:v ffv1 -color_range " + range + " -colorspace " + matrix);
  }

  static std::string noise(std::size_t bytes) {
    std::string out(bytes, '\0');
    std::uint32_t state = 12345;
    for (char& c : out) {
      state = state * 1664525u + 1013904223u;
      c = static_cast<char>(state >> 24);
    }
    return out;
  }

  ScratchFolder scratch_;
};

std::vector<std::uint8_t> bytes_of(const std::string& text) { return {text.begin(), text.end()}; }

TEST_F(Media, FullRangeBt601PassesUntouched) {
  const std::tuple<const char*, PixelFormat, std::size_t> kinds[] = {
      {"yuv420p", PixelFormat::yuv420p, 48 * 32 * 3 / 2},
      {"yuv422p", PixelFormat::yuv422p, 48 * 32 * 2},
      {"yuv444p", PixelFormat::yuv444p, 48 * 32 * 3},
      {"yuv440p", PixelFormat::yuv440p, 48 * 32 * 2},
      {"yuv411p", PixelFormat::yuv411p, 48 * 32 * 3 / 2},
      {"gray", PixelFormat::gray8, 48 * 32}};
  for (const auto& [pix_fmt, format, size] : kinds) {
    const std::string raw = noise(size);
    io::SourceInfo info;
    const ReadFrames got = read_frames(make_tagged(pix_fmt, raw, "pc", "smpte170m"), {}, &info);
    ASSERT_EQ(got.samples.size(), 1u) << pix_fmt;
    EXPECT_EQ(info.format, format) << pix_fmt;
    EXPECT_EQ(got.samples[0], bytes_of(raw)) << pix_fmt;
    EXPECT_EQ(info.codec, "ffv1");
    EXPECT_EQ(info.container, "matroska");
    EXPECT_FALSE(info.is_jpeg);
  }
}

TEST_F(Media, RgbStaysRgb) {
  const std::string raw = noise(48 * 32 * 3);
  io::SourceInfo info;
  for (const char* options : {"-c:v rawvideo", "-c:v png", "-c:v ffv1 -pix_fmt gbrp"}) {
    const ReadFrames got = read_frames(make("rgb24", raw, options, "a.nut"), {}, &info);
    ASSERT_EQ(got.samples.size(), 1u) << options;
    EXPECT_EQ(info.format, PixelFormat::rgb24) << options;
    EXPECT_EQ(got.samples[0], bytes_of(raw)) << options;
  }
}

/// The tags of a file reach the conversion, which samples_test.cpp compares with the equations.
TEST_F(Media, TagsDecideRangeAndMatrix) {
  const std::string raw = noise(48 * 32 * 3);
  const auto* base = reinterpret_cast<const std::uint8_t*>(raw.data());
  const io::YccPlanes planes{{base, base + 48 * 32, base + 2 * 48 * 32}, {48, 48, 48}};
  const std::tuple<const char*, const char*, io::YccCoding> cases[] = {
      {"tv", "smpte170m", {8, false, io::kBt601}},
      {"tv", "bt470bg", {8, false, io::kBt601}},
      {"tv", "bt709", {8, false, io::kBt709}},
      {"pc", "bt709", {8, true, io::kBt709}},
      {"tv", "bt2020nc", {8, false, io::kBt2020}},
      {"", "", {8, false, io::kBt601}},  // no tags, standard definition
  };
  for (const auto& [range, matrix, coding] : cases) {
    Frame expected = *Frame::create(PixelFormat::yuv444p, 48, 32);
    io::YccToJfif(coding).convert(planes, expected.view());
    const ReadFrames got = read_frames(*range == '\0' ? make("yuv444p", raw, "-c:v ffv1")
                                                      : make_tagged("yuv444p", raw, range, matrix));
    ASSERT_EQ(got.samples.size(), 1u) << range << matrix;
    EXPECT_EQ(got.samples[0], packed(expected)) << range << matrix;
  }
}

TEST_F(Media, TenBitsAndSemiPlanarLayouts) {
  std::string raw;  // limited range ramp in 10 bits, neutral chroma
  for (int i = 0; i < 48 * 32; ++i) {
    const int value = 64 + i % 877;
    raw += static_cast<char>(value);
    raw += static_cast<char>(value >> 8);
  }
  for (int i = 0; i < 2 * 24 * 16; ++i) raw += std::string("\x00\x02", 2);
  for (const char* options : {"-c:v ffv1 -color_range tv", "-c:v rawvideo -pix_fmt yuv420p10be"}) {
    const ReadFrames got = read_frames(make("yuv420p10le", raw, options, "a.nut"));
    ASSERT_EQ(got.samples.size(), 1u) << options;
    for (std::size_t i = 0; i < 48 * 32; ++i)
      ASSERT_EQ(got.samples[0][i], std::lround(static_cast<double>(i % 877) * 255 / 876))
          << options << i;
    for (std::size_t i = 48 * 32; i < got.samples[0].size(); ++i) ASSERT_EQ(got.samples[0][i], 128);
  }
  // The same samples, planar, semi-planar and packed.
  const std::string planar = noise(48 * 32 * 3 / 2);
  const ReadFrames direct = read_frames(make("yuv420p", planar, "-c:v rawvideo", "b.nut"));
  const ReadFrames semi =
      read_frames(make("yuv420p", planar, "-c:v rawvideo -pix_fmt nv12", "b.nut"));
  ASSERT_EQ(semi.samples.size(), 1u);
  EXPECT_EQ(semi.samples[0], direct.samples[0]);
  const std::string wide = noise(48 * 32 * 2);
  const ReadFrames apart = read_frames(make("yuv422p", wide, "-c:v rawvideo", "b.nut"));
  const ReadFrames mixed =
      read_frames(make("yuv422p", wide, "-c:v rawvideo -pix_fmt uyvy422", "b.nut"));
  ASSERT_EQ(mixed.samples.size(), 1u);
  EXPECT_EQ(mixed.samples[0], apart.samples[0]);
}

TEST_F(Media, TimeRateAspectAndRotation) {
  const std::string path = scratch_.path("a.mp4");
  run("ffmpeg -v error -f lavfi -i testsrc=s=64x48:r=30000/1001:d=1,setsar=16/11 -c:v mpeg4 '" +
      scratch_.path("plain.mp4") + "' 2>&1");
  run("ffmpeg -v error -i '" + scratch_.path("plain.mp4") + "' -c copy -metadata:s:v rotate=90 '" +
      path + "' 2>&1");
  io::SourceInfo info;
  const ReadFrames got = read_frames(path, {}, &info);
  EXPECT_EQ(info.frame_rate, (io::Rational{30000, 1001}));
  EXPECT_EQ(info.sample_aspect, (io::Rational{16, 11}));
  EXPECT_EQ(info.container, "mp4");
  EXPECT_EQ(info.frame_count, 30);
  EXPECT_NEAR(info.duration_seconds, 1.001, 0.002);
  EXPECT_FALSE(info.variable_frame_rate);
  ASSERT_EQ(got.times.size(), 30u);
  for (std::size_t i = 0; i < 30; ++i)
    EXPECT_NEAR(static_cast<double>(got.times[i].pts) * info.time_base.value(),
                static_cast<double>(i) * 1001 / 30000, 1e-9);
  auto video = probe_video(path);
  if (video.count("rotation") == 1) {
    EXPECT_EQ((360 - std::stoi(video["rotation"])) % 360, info.rotation_degrees);
    EXPECT_NE(info.rotation_degrees, 0);
  }
}

TEST_F(Media, BFramesComeInOrderAndRangesAreExact) {
  const std::string path = scratch_.path("a.mkv");
  run("ffmpeg -v error -f lavfi -i testsrc=s=64x48:r=25:d=2 -c:v mpeg4 -bf 2 -g 12 '" + path +
      "' 2>&1");
  io::SourceInfo info;
  const ReadFrames all = read_frames(path, {}, &info);
  ASSERT_EQ(all.samples.size(), 50u);
  for (std::size_t i = 1; i < 50; ++i) EXPECT_GT(all.times[i].pts, all.times[i - 1].pts);
  io::SourceOptions options;
  options.first_frame = 17;
  options.last_frame = 20;
  const ReadFrames part = read_frames(path, options, &info);
  EXPECT_EQ(info.first_pts, all.times[17].pts);
  EXPECT_THAT(part.samples,
              testing::ElementsAre(all.samples[17], all.samples[18], all.samples[19]));
}

TEST_F(Media, DamageIsNamedWithItsFrame) {
  const std::string path = scratch_.path("a.avi");
  run("ffmpeg -v error -f lavfi -i testsrc=s=64x48:r=25:d=1 -c:v png '" + path + "' 2>&1");
  std::string file = text_of(path);
  std::size_t at = 0;
  for (int i = 0; i < 6; ++i) at = file.find("IHDR", at + 1);
  ASSERT_NE(at, std::string::npos);
  file.replace(at, 4, "XXXX");
  auto source = opened(io::open_frames({scratch_.write("b.avi", file), "", {}}, {}));
  Frame frame;
  io::FrameTime time;
  int good = 0, bad = 0;
  for (;;) {
    auto more = source->read(frame, time);
    if (more && !*more) break;
    if (more) {
      ++good;
      continue;
    }
    ++bad;
    EXPECT_EQ(more.status().code(), Errc::bad_input);
    EXPECT_THAT(more.status().detail(), testing::HasSubstr("frame"));
    ASSERT_LT(bad, 5);
  }
  EXPECT_EQ(good, 24);
  EXPECT_EQ(bad, 1);
}

}  // namespace
}  // namespace zerorun::test
