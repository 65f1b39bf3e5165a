// Files whose index or header lies. The walk through the block headers of a Matroska file finds
// every frame, and follows no lie; of an AVI file every frame is read, the count is right or
// unknown, and seeking finds the frame that was asked for; how long both say the file is.
// SPDX-License-Identifier: MIT
#include "io/ffmpeg/container_bytes.hpp"

#include <algorithm>
#include <functional>
#include <random>
#include <string>
#include <vector>

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

constexpr int kAviFrames = 40;  // more than are read ahead
constexpr std::size_t kEntryBytes = 16, kChunkHeadBytes = 8;

/// The bytes of an AVI file, with the place of its idx1.
struct Avi {
  Packet file;
  std::size_t index = 0;

  std::size_t entry(std::size_t i) const { return index + kChunkHeadBytes + i * kEntryBytes; }
  std::size_t find(std::string_view id) const {
    const auto bytes = std::as_bytes(std::span(id));
    const auto found = std::search(file.begin(), file.end(), bytes.begin(), bytes.end());
    return static_cast<std::size_t>(found - file.begin());
  }
  void put(std::size_t at, std::uint32_t value) {
    for (std::size_t i = 0; i < 4; ++i) file[at + i] = static_cast<std::byte>(value >> (8 * i));
  }
  std::uint32_t number(std::size_t at) const {
    std::uint32_t value = 0;
    for (std::size_t i = 4; i-- > 0;)
      value = value << 8 | std::to_integer<std::uint32_t>(file[at + i]);
    return value;
  }
  /// Leaves out entries `from` to `to`, and corrects the sizes.
  void forget(std::size_t from, std::size_t to) {
    const auto begin = file.begin();
    file.erase(begin + static_cast<std::ptrdiff_t>(entry(from)),
               begin + static_cast<std::ptrdiff_t>(entry(to)));
    put(index + 4, number(index + 4) - static_cast<std::uint32_t>((to - from) * kEntryBytes));
    put(4, static_cast<std::uint32_t>(file.size() - kChunkHeadBytes));
  }
  void count(std::uint32_t frames) {
    put(find("avih") + kChunkHeadBytes + 16, frames);
    put(find("strh") + kChunkHeadBytes + 32, frames);
  }
};

struct Lie {
  const char* name;
  std::function<void(Avi&)> tell;
  bool can_seek;
};

std::ostream& operator<<(std::ostream& out, const Lie& lie) { return out << lie.name; }

const Lie kLies[] = {
    {"none", [](Avi&) {}, true},
    {"outside",
     [](Avi& avi) {
       for (std::size_t i = 0; i < 5; ++i) avi.put(avi.entry(i) + 8, 0x7FFFFF00);
     },
     false},
    {"all_the_same",
     [](Avi& avi) {
       for (std::size_t i = 0; i < kAviFrames; ++i)
         avi.put(avi.entry(i) + 8, avi.number(avi.entry(0) + 8));
     },
     false},
    {"in_falling_order",
     [](Avi& avi) {
       for (std::size_t i = 0; i < kAviFrames / 2; ++i)
         std::swap_ranges(
             avi.file.begin() + static_cast<std::ptrdiff_t>(avi.entry(i)),
             avi.file.begin() + static_cast<std::ptrdiff_t>(avi.entry(i + 1)),
             avi.file.begin() + static_cast<std::ptrdiff_t>(avi.entry(kAviFrames - 1 - i)));
     },
     false},
    {"forgets_the_last", [](Avi& avi) { avi.forget(4, kAviFrames); }, false},
    {"forgets_the_first", [](Avi& avi) { avi.forget(0, 4); }, false},
    {"forgets_every_second",
     [](Avi& avi) {
       for (std::size_t i = 0; i < kAviFrames / 2; ++i) avi.forget(i + 1, i + 2);
     },
     false},
    {"is_not_there",
     [](Avi& avi) {
       avi.file.resize(avi.index);
       avi.put(4, static_cast<std::uint32_t>(avi.file.size() - kChunkHeadBytes));
     },
     true},
    {"header_counts_more", [](Avi& avi) { avi.count(1000); }, true},
    {"header_counts_less", [](Avi& avi) { avi.count(3); }, true},
};

class AviIndex : public testing::TestWithParam<Lie> {
 protected:
  /// An AVI file with such a lie. Frames are longer than the look-ahead may be.
  std::string write() {
    write_packets(scratch_.path("a.avi"), packets_);
    const std::string text = text_of(scratch_.path("a.avi"));
    const auto bytes = std::as_bytes(std::span(text));
    Avi avi{{bytes.begin(), bytes.end()}, 0};
    avi.index = avi.find("idx1");
    EXPECT_EQ(avi.number(avi.index + 4), kAviFrames * kEntryBytes);
    GetParam().tell(avi);
    return scratch_.write("b.avi", avi.file);
  }

  const std::vector<Packet> packets_ = make_packets(kAviFrames);
  ScratchFolder scratch_;
};

TEST_P(AviIndex, LosesNoFrame) {
  auto source = opened(io::open_packets({write(), "", {}}, {}));
  EXPECT_EQ(source->can_seek(), GetParam().can_seek);
  const std::int64_t count = source->info().frame_count;
  EXPECT_TRUE(count == kAviFrames || count == -1) << count;
  const ReadPackets read = read_all(*source);
  EXPECT_EQ(read.packets, packets_);
  for (std::size_t i = 0; i < read.times.size(); ++i)
    EXPECT_EQ(read.times[i].pts, static_cast<std::int64_t>(i));
}

TEST_P(AviIndex, ARangeBeginsWithItsFrame) {
  const std::string path = write();
  for (const int first : {1, 7, kAviFrames - 1}) {
    io::SourceOptions options;
    options.first_frame = first;
    const ReadPackets read = read_packets(path, options);
    ASSERT_EQ(read.packets.size(), static_cast<std::size_t>(kAviFrames - first));
    EXPECT_EQ(read.packets[0], packets_[static_cast<std::size_t>(first)]);
  }
  const auto listed = io::count_listed_frames({path, "", {}}, {});
  ASSERT_TRUE(listed) << why(listed);
  EXPECT_EQ(*listed, -1);  // the index has been counted already, or is not to be trusted
}

TEST_P(AviIndex, SeekingFindsTheFrame) {
  auto source = opened(io::open_packets({write(), "", {}}, {}));
  if (!GetParam().can_seek) return;
  Packet packet;
  io::FrameTime time;
  for (const int frame : {kAviFrames - 1, 0, 13}) {
    const auto found = source->seek(frame);
    ASSERT_TRUE(found) << why(found);
    EXPECT_EQ(*found, frame);
    ASSERT_TRUE(*source->read(packet, time));
    EXPECT_EQ(packet, packets_[static_cast<std::size_t>(frame)]);
  }
}

INSTANTIATE_TEST_SUITE_P(Lies, AviIndex, testing::ValuesIn(kLies),
                         [](const auto& param) { return std::string(param.param.name); });

}  // namespace
}  // namespace zerorun::test
