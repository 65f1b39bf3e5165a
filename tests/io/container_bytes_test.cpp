// The walk through the block headers of a Matroska file finds every frame, and follows no lie; how
// long headers of Matroska and AVI files say the file is.
// SPDX-License-Identifier: MIT
#include "io/ffmpeg/container_bytes.hpp"

#include <algorithm>
#include <fstream>
#include <random>

#include "tests/io/support.hpp"
#include "zerorun/source.hpp"

namespace zerorun::test {
namespace {

constexpr int kVideoFrames = 40;

class MkvIndex : public ::testing::Test {
 protected:
  std::string write(bool variable) {
    write_with_rate(scratch_.path("a.mkv"), make_packets(kVideoFrames), variable);
    return scratch_.path("a.mkv");
  }

  static std::optional<std::vector<std::int64_t>> walk(const std::string& path) {
    const auto file = io::ByteReader::open(path);
    EXPECT_TRUE(file);
    return io::av::mkv_frame_times(*file);
  }

  std::optional<std::vector<std::int64_t>> walk_text(const std::string& text) {
    return walk(scratch_.write("b.mkv", text));
  }

  ScratchFolder scratch_;
};

TEST_F(MkvIndex, HasTheTimesThatPacketsHave) {
  for (const bool variable : {false, true}) {
    const std::string path = write(variable);
    const auto times = walk(path);
    ASSERT_TRUE(times);
    const ReadPackets read = read_packets(path);
    ASSERT_EQ(times->size(), read.times.size());
    for (std::size_t i = 0; i < times->size(); ++i)
      EXPECT_EQ((*times)[i] - times->front(), read.times[i].pts - read.times.front().pts) << i;
    ::unlink(path.c_str());
  }
}

TEST_F(MkvIndex, CountsWhatARangeHas) {
  const io::Location input{write(true), "", {}};
  io::SourceOptions options;
  const auto all = io::count_listed_frames(input, options);
  ASSERT_TRUE(all) << why(all);
  EXPECT_EQ(*all, kVideoFrames);
  options.first_frame = 7;
  options.last_frame = 19;
  EXPECT_EQ(*io::count_listed_frames(input, options), 12);
  options.first_frame = 99;
  options.last_frame = -1;
  EXPECT_EQ(*io::count_listed_frames(input, options), 0);
  const std::string raw = scratch_.write("a.mjpeg", make_packets(1)[0]);
  EXPECT_EQ(*io::count_listed_frames({raw, "", {}}, {}), -1);
}

TEST_F(MkvIndex, ACutFileHasNone) {
  const std::string text = text_of(write(false));
  for (std::size_t size = 0; size < text.size(); size += 509)
    EXPECT_FALSE(walk_text(text.substr(0, size))) << size;
}

TEST_F(MkvIndex, EveryWrongByteEndsTheWalkOrLeavesRisingTimes) {
  const std::string text = text_of(write(true));
  std::mt19937 random(1);
  for (int turn = 0; turn < 1000; ++turn) {
    std::string wrong = text;
    wrong[random() % wrong.size()] = static_cast<char>(random());
    wrong[random() % std::min<std::size_t>(wrong.size(), 700)] = static_cast<char>(random());
    const auto times = walk_text(wrong);
    if (!times) continue;
    EXPECT_FALSE(times->empty());
    EXPECT_TRUE(std::is_sorted(times->begin(), times->end()));
  }
}

TEST_F(MkvIndex, LacingAndEqualTimesAreNotFollowed) {
  const std::string text = text_of(write(false));
  ASSERT_TRUE(walk_text(text));
  // A3 or A1, the size in two bytes, track 1, time in two bytes, flags.
  const auto is_block = [&](std::size_t i) {
    return (text[i] == '\xA3' || text[i] == '\xA1') && (text[i + 1] & 0xC0) == 0x40 &&
           text[i + 3] == '\x81';
  };
  std::size_t at = text.find("\x1F\x43\xB6\x75");  // the first cluster
  ASSERT_NE(at, std::string::npos);
  while (at + 7 < text.size() && !is_block(at)) ++at;
  ASSERT_LT(at + 7, text.size()) << "the muxer writes its blocks in another way";
  std::string laced = text;
  laced[at + 6] = static_cast<char>(laced[at + 6] | 0x02);
  EXPECT_FALSE(walk_text(laced));
}

using namespace std::string_literals;

std::optional<std::int64_t> announced(const std::string& head) {
  return io::announced_bytes(std::as_bytes(std::span(head)));
}

const std::string kEbml =
    "\x1A\x45\xDF\xA3\x84"
    "abcd"s;  // four bytes of content
const std::string kSegment = "\x18\x53\x80\x67"s;

TEST(AnnouncedSize, OfMatroska) {
  const auto front = static_cast<std::int64_t>(kEbml.size() + kSegment.size());
  EXPECT_EQ(announced(kEbml + kSegment + "\x85"), front + 1 + 5);
  EXPECT_EQ(announced(kEbml + kSegment + "\x41\x02"), front + 2 + 0x102);
  EXPECT_EQ(announced(kEbml + kSegment + "\x01\0\0\0\x01\x02\x03\x04"s), front + 8 + 0x1020304);
}

TEST(AnnouncedSize, LiveStreamsDoNotKnowIt) {
  EXPECT_EQ(announced(kEbml + kSegment + "\xFF"), std::nullopt);
  EXPECT_EQ(announced(kEbml + kSegment + "\x01\xFF\xFF\xFF\xFF\xFF\xFF\xFF"), std::nullopt);
  EXPECT_EQ(announced("RIFF\0\0\0\0AVI LIST"s), std::nullopt);
  EXPECT_EQ(announced("RIFF\xFF\xFF\xFF\xFF"
                      "AVI LIST"s),
            std::nullopt);
}

TEST(AnnouncedSize, OfAvi) {
  EXPECT_EQ(announced("RIFF\x10\x20\0\0AVI LIST"s), 0x2010 + 8);
  EXPECT_EQ(announced("RIFF\x10\x20\0\0WAVEfmt "s), std::nullopt);
}

TEST(AnnouncedSize, HeadsThatEndTooEarly) {
  for (const std::string& whole :
       {kEbml + kSegment + "\x01\0\0\0\x01\x02\x03\x04"s, "RIFF\x10\x20\0\0AVI "s}) {
    ASSERT_TRUE(announced(whole));
    for (std::size_t length = 0; length < whole.size(); ++length)
      EXPECT_EQ(announced(whole.substr(0, length)), std::nullopt) << length;
  }
  // A header that is longer than the data, and a size without a length.
  EXPECT_EQ(announced("\x1A\x45\xDF\xA3\x01\x7F\xFF\xFF\xFF\xFF\xFF\xFF" + kSegment + "\x85"),
            std::nullopt);
  EXPECT_EQ(announced("\x1A\x45\xDF\xA3\0\0\0\0\0\0\0\0"s), std::nullopt);
}

}  // namespace
}  // namespace zerorun::test
