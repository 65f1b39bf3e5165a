// AVI files whose index or header lies: every frame is read, the count is right or unknown, and
// seeking finds the frame that was asked for.
// SPDX-License-Identifier: MIT
#include <functional>
#include <string>
#include <vector>

#include "tests/io/support.hpp"

namespace zerorun::test {
namespace {

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
