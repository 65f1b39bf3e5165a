// Files that are read ahead by threads give the bytes of the file, in order, wherever one jumps.
// SPDX-License-Identifier: MIT

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "io/base/byte_reader.hpp"
#include "io/mjpeg/jpeg_splitter.hpp"
#include "tests/io/support.hpp"
#include "tests/support/random.hpp"

namespace zerorun::test {
namespace {

constexpr std::size_t kBlock = io::ReadAhead::kBlockBytes;

std::vector<std::byte> noise(std::size_t bytes) {
  Random random(bytes);
  std::vector<std::byte> data(bytes);
  for (std::byte& byte : data) byte = static_cast<std::byte>(random.byte());
  return data;
}

std::shared_ptr<const io::OpenFile> open_file(const std::string& path) {
  return std::make_shared<io::OpenFile>(::open(path.c_str(), O_RDONLY | O_CLOEXEC), true);
}

TEST(ReadAhead, GivesAllBlocksInOrder) {
  const ScratchFolder scratch;
  for (const std::size_t bytes :
       {std::size_t{0}, std::size_t{5}, kBlock, 3 * kBlock, 9 * kBlock + 77})
    for (const int threads : {1, 2, 5}) {
      const auto data = noise(bytes);
      const auto file = open_file(scratch.write("data", data));
      ASSERT_GE(file->number, 0);
      {
        const std::size_t skipped = std::min<std::size_t>(bytes, 3);
        io::ReadAhead ahead(file, skipped, threads);
        std::vector<std::byte> block,
            all(data.begin(), data.begin() + static_cast<std::ptrdiff_t>(skipped));
        for (;;) {
          const auto got = ahead.next(block);
          EXPECT_EQ(got.error, 0);
          all.insert(all.end(), block.begin(),
                     block.begin() + static_cast<std::ptrdiff_t>(got.bytes));
          if (got.bytes < kBlock) break;
        }
        EXPECT_TRUE(all == data) << bytes << " by " << threads;
      }
    }
}

TEST(ReadAhead, TellsAnErrorWhereItIs) {
  io::ReadAhead ahead(std::make_shared<io::OpenFile>(-1, false), 0, 2);  // no file
  std::vector<std::byte> block;
  const auto got = ahead.next(block);
  EXPECT_EQ(got.bytes, 0u);
  EXPECT_EQ(got.error, EBADF);
}

/// Nobody takes what is read.
TEST(ReadAhead, EndsWhenNobodyReads) {
  const ScratchFolder scratch;
  const auto file = open_file(scratch.write("data", noise(12 * kBlock)));
  ASSERT_GE(file->number, 0);
  for (int turn = 0; turn < 50; ++turn) {
    io::ReadAhead ahead(file, 0, 3);
    std::vector<std::byte> block;
    if (turn % 2 == 0) ahead.next(block);
  }
}

/// Reads by all calls of a reader, as `random` has it, and compares.
TEST(ReadAhead, ReadersGiveTheSameBytes) {
  const ScratchFolder scratch;
  const auto data = noise(11 * kBlock + 4321);
  const std::string path = scratch.write("data", data);
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    Random random(seed);
    auto reader = io::ByteReader::open(path);
    ASSERT_TRUE(reader);
    reader->read_ahead(1 + static_cast<int>(seed % 3));
    std::vector<std::byte> out;
    std::size_t at = 0;
    for (int step = 0; step < 3000 && at < data.size(); ++step) {
      ASSERT_EQ(reader->offset(), at);
      const int kind = random.below(100);
      if (kind < 40) {
        const std::size_t most = 1 + static_cast<std::size_t>(random.below(4096));
        const auto some = reader->peek(most);
        ASSERT_EQ(some.size(), std::min(most, data.size() - at));
        ASSERT_EQ(std::memcmp(some.data(), data.data() + at, some.size()), 0);
        reader->consume(some.size());
        at += some.size();
      } else if (kind < 95) {
        const auto some = reader->buffered();
        ASSERT_FALSE(some.empty());
        ASSERT_EQ(std::memcmp(some.data(), data.data() + at, some.size()), 0);
        const std::size_t part = some.size() - some.size() / 3;
        reader->consume(part);
        at += part;
      } else if (kind < 97) {
        out.resize(static_cast<std::size_t>(random.below(3 << 18)));
        const std::size_t got = reader->read(out);
        ASSERT_EQ(got, std::min(out.size(), data.size() - at));
        ASSERT_EQ(std::memcmp(out.data(), data.data() + at, got), 0);
        at += got;
      } else if (kind < 98) {
        const auto part = static_cast<std::size_t>(random.below(1 << 19));
        const bool is_there = part <= data.size() - at;
        ASSERT_EQ(reader->skip(part), is_there);
        at = is_there ? at + part : static_cast<std::size_t>(reader->offset());
      } else {
        at = static_cast<std::size_t>(random.below(static_cast<int>(data.size()) / 2));
        ASSERT_TRUE(reader->seek(at));
      }
    }
    io::ByteReader moved = *std::move(reader);
    std::size_t rest = 0;
    for (auto some = moved.buffered(); !some.empty(); some = moved.buffered()) {
      ASSERT_EQ(std::memcmp(some.data(), data.data() + at + rest, some.size()), 0);
      rest += some.size();
      moved.consume(some.size());
    }
    EXPECT_EQ(at + rest, data.size());
    EXPECT_TRUE(moved.error());
  }
}

TEST(ReadAhead, ImagesAreCutAtTheSameBytes) {
  const ScratchFolder scratch;
  const auto packets = make_packets(3, 1280, 720);
  std::vector<std::byte> data;
  for (int i = 0; data.size() < 9 * kBlock; ++i) {
    const Packet& packet = packets[static_cast<std::size_t>(i) % packets.size()];
    data.insert(data.end(), packet.begin(), packet.end());
    if (i % 7 == 0) data.resize(data.size() + 13);  // junk
  }
  const std::string path = scratch.write("a.mjpeg", data);
  const auto images_of = [&](int threads) {
    auto reader = io::ByteReader::open(path);
    EXPECT_TRUE(reader);
    reader->read_ahead(threads);
    io::JpegSplitter splitter(*std::move(reader));
    std::vector<std::uint64_t> images;
    std::uint64_t bytes = 0;
    for (auto more = splitter.next(bytes); more && *more; more = splitter.next(bytes)) {
      images.push_back(splitter.image_offset());
      images.push_back(bytes);
    }
    images.push_back(static_cast<std::uint64_t>(splitter.skipped_bytes()));
    return images;
  };
  const auto expected = images_of(0);
  EXPECT_GT(expected.size(), 20u);
  for (const int threads : {1, 3}) EXPECT_EQ(images_of(threads), expected);
}

}  // namespace
}  // namespace zerorun::test
