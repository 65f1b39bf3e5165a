// In every kind of input, seeking gives the same frames as reading from the start.
// SPDX-License-Identifier: MIT
#include <algorithm>

#include "tests/io/support.hpp"

namespace zerorun::test {
namespace {

struct Shown {
  std::vector<std::byte> content;
  std::int64_t pts = 0;
};

Result<bool> read_one(io::PacketSource& source, Shown& shown) {
  io::FrameTime time;
  Result<bool> more = source.read(shown.content, time);
  shown.pts = time.pts;
  return more;
}

Result<bool> read_one(io::FrameSource& source, Shown& shown) {
  io::FrameTime time;
  Frame frame;
  Result<bool> more = source.read(frame, time);
  shown.pts = time.pts;
  if (!more || !*more) return more;
  const std::vector<std::uint8_t> samples = packed(frame);
  const auto* bytes = reinterpret_cast<const std::byte*>(samples.data());
  shown.content.assign(bytes, bytes + samples.size());
  return true;
}

/// Index of the frame that a player shows at `pts`.
std::size_t shown_at(const std::vector<Shown>& frames, std::int64_t pts) {
  std::size_t index = 0;
  for (std::size_t i = 0; i < frames.size(); ++i)
    if (frames[i].pts <= pts) index = i;
  return index;
}

/// Reads everything, then seeks to, between, before and behind all frames in a scattered order.
template <typename Source>
void check_seeking(Source& source, std::size_t count, std::int64_t first_index = 0) {
  ASSERT_TRUE(source.can_seek());
  std::vector<Shown> frames;
  for (Shown shown; read_one(source, shown).is_ok() && frames.size() <= count;) {
    if (!frames.empty() && shown.pts <= frames.back().pts) break;
    frames.push_back(shown);
  }
  ASSERT_EQ(frames.size(), count);
  std::vector<std::int64_t> targets{-1000, 1'000'000'000'000, INT64_MAX, INT64_MIN};
  for (std::size_t i = 0; i < count; ++i) {
    targets.push_back(frames[i * 7 % count].pts);
    targets.push_back(frames[(i * 5 + 3) % count].pts - 1);
    targets.push_back(frames[(i * 3 + 2) % count].pts + 1);
  }
  for (const std::int64_t target : targets) {
    SCOPED_TRACE("target " + std::to_string(target));
    const std::size_t want = shown_at(frames, target);
    auto index = source.seek(target);
    ASSERT_TRUE(index) << why(index);
    EXPECT_EQ(*index, static_cast<std::int64_t>(want) + first_index);
    for (std::size_t i = want; i < std::min(want + 3, count); ++i) {
      Shown shown;
      auto more = read_one(source, shown);
      ASSERT_TRUE(more) << why(more);
      ASSERT_TRUE(*more);
      EXPECT_EQ(shown.pts, frames[i].pts);
      EXPECT_EQ(shown.content, frames[i].content) << "frame " << i << " after " << want;
    }
    if (want + 3 < count) continue;
    Shown past_the_end;
    auto more = read_one(source, past_the_end);
    ASSERT_TRUE(more) << why(more);
    EXPECT_FALSE(*more);
  }
}

constexpr int kFrames = 40;

class Seek : public testing::Test {
 protected:
  std::string write(const std::string& name, bool variable = false) {
    write_with_rate(scratch_.path(name), packets_, variable);
    return scratch_.path(name);
  }

  void check_packets(const std::string& path, const io::SourceOptions& options = {},
                     std::size_t count = kFrames) {
    SCOPED_TRACE(path);
    auto source = opened(io::open_packets({path, "", {}}, options));
    check_seeking(*source, count, options.first_frame);
  }

  void check_frames(const std::string& path, const io::SourceOptions& options = {},
                    std::size_t count = kFrames) {
    SCOPED_TRACE(path);
    auto source = opened(io::open_frames({path, "", {}}, options));
    check_seeking(*source, count, options.first_frame);
  }

  std::string write_y4m(const std::string& parameters) {
    std::string text = "YUV4MPEG2 W16 H8 F25:1 C420jpeg XCOLORRANGE=FULL\n";
    for (int i = 0; i < kFrames; ++i)
      text += "FRAME" + parameters + "\n" + std::string(16 * 8 * 3 / 2, static_cast<char>(i));
    return scratch_.write("a.y4m", text);
  }

  ScratchFolder scratch_;
  std::vector<Packet> packets_ = make_packets(kFrames);
};

TEST_F(Seek, RawMotionJpeg) {
  const std::string path = write("a.mjpeg");
  check_packets(path);
  check_frames(path);
}

TEST_F(Seek, RangesAndRates) {
  const std::string path = write("a.mjpeg");
  io::SourceOptions options;
  options.first_frame = 5;
  options.last_frame = 15;
  check_packets(path, options, 10);
  options.frame_rate = {30000, 1001};
  check_packets(path, options, 10);
  check_frames(path, options, 10);
}

TEST_F(Seek, Containers) {
  if (!io::features().ffmpeg) GTEST_SKIP() << "this build has no FFmpeg";
  for (const char* name : {"a.mov", "a.mp4", "a.mkv", "a.avi"}) {
    const std::string path = write(name);
    check_packets(path);
    check_frames(path);
    io::SourceOptions options;
    options.first_frame = 7;
    options.last_frame = 19;
    check_packets(path, options, 12);
    options.frame_rate = {10, 1};
    check_packets(path, options, 12);
  }
}

TEST_F(Seek, VariableRate) {
  if (!io::features().ffmpeg) GTEST_SKIP() << "this build has no FFmpeg";
  check_packets(write("a.mov", true));
}

TEST_F(Seek, Yuv4mpeg) {
  check_frames(write_y4m(""));
  check_frames(write_y4m(" Ip"));
}

TEST_F(Seek, PnmStream) {
  std::string text;
  for (int i = 0; i < kFrames; ++i)
    text += "P5\n" + std::to_string(4 + i) + " 3\n255\n" +
            std::string(static_cast<std::size_t>(3 * (4 + i)), static_cast<char>(i));
  check_frames(scratch_.write("a.pgm", text));
}

TEST_F(Seek, SequencesAndTheirGaps) {
  for (int i = 1; i <= kFrames; ++i)
    if (i % 6 != 5)
      scratch_.write(std::to_string(i) + ".jpg", packets_[static_cast<std::size_t>(i - 1)]);
  io::SourceOptions options;
  options.missing = io::MissingFrames::hold;
  check_packets(scratch_.path("%d.jpg"), options);
  check_frames(scratch_.path("%d.jpg"), options);
  options.missing = io::MissingFrames::skip;
  check_packets(scratch_.path("%d.jpg"), options, 34);
  check_frames(scratch_.path("*.jpg"), {}, 34);
  std::string list;
  for (int i = 1; i <= kFrames; ++i) list += std::to_string(i) + ".jpg\n";
  check_packets("@" + scratch_.write("list.txt", list), options, 34);
  options.missing = io::MissingFrames::hold;
  check_packets("@" + scratch_.path("list.txt"), options);
}

TEST_F(Seek, VideoWithPredictedFrames) {
  if (!io::features().ffmpeg || !has_program("ffmpeg")) GTEST_SKIP() << "no FFmpeg";
  for (const char* name : {"a.mp4", "a.mkv"}) {
    const std::string path = scratch_.path(name);
    run("ffmpeg -v error -f lavfi -i testsrc=s=64x48:r=25:d=2 -c:v mpeg4 -bf 2 -g 12 '" + path +
        "' 2>&1");
    check_frames(path, {}, 50);
  }
}

TEST_F(Seek, PipesGoForwardAlone) {
  const std::string path = write("a.mjpeg"), pipe = scratch_.path("pipe");
  run("mkfifo '" + pipe + "'; (cat '" + path + "' > '" + pipe + "') > /dev/null 2>&1 &");
  auto source = opened(io::open_packets({pipe, "mjpeg", {}}, {}));
  EXPECT_FALSE(source->can_seek());
  EXPECT_EQ(source->seek(3).status().code(), Errc::invalid_argument);
  EXPECT_EQ(read_all(*source).packets, packets_);
}

TEST_F(Seek, FormatsThatAreWelcomeStay) {
  io::SourceOptions options;
  options.pixel_format = PixelFormat::bgrx32;
  options.accepted_formats = {PixelFormat::yuv420p};
  const auto format_of = [&options](const std::string& path) {
    auto source = io::open_frames({path, "", {}}, options);
    EXPECT_TRUE(source) << why(source);
    Frame frame;
    io::FrameTime time;
    EXPECT_TRUE((*source)->read(frame, time));
    EXPECT_EQ((*source)->info().format, frame.format());
    return frame.format();
  };
  EXPECT_EQ(format_of(write("a.mjpeg")), PixelFormat::yuv420p);
  EXPECT_EQ(format_of(write_y4m("")), PixelFormat::yuv420p);
  packets_ = make_packets(kFrames, 64, 48, Subsampling::s422);
  EXPECT_EQ(format_of(write("b.mjpeg")), PixelFormat::bgrx32);
}

}  // namespace
}  // namespace zerorun::test
