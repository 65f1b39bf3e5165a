// Walks from mark to mark: a mark keeps each state once, and over bits in which walks hardly meet
// the walks from guesses lead to the state in which each subsequence truly begins.
// SPDX-License-Identifier: MIT
#include "cuda/decode/long_ends.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "tests/cuda/decode/host_chunk.hpp"
#include "tests/support/test_frame.hpp"
#include "zerorun/encoder.hpp"

namespace zerorun::test {
namespace {

TEST(LongEnds, AMarkKeepsEachStateOnceAndSaysWhenItIsFull) {
  constexpr std::uint32_t kFew = 32;
  FarMemory memory(kFew);
  std::set<std::uint32_t> slots;
  for (std::uint32_t state = 0; state < kFew; ++state) {
    bool is_new = false;
    const std::uint32_t slot = memory.ends.insert(3, 37 * state, is_new);
    EXPECT_TRUE(is_new);
    EXPECT_TRUE(slots.insert(slot).second) << "a slot is taken twice";
    EXPECT_EQ(memory.ends.insert(3, 37 * state, is_new), slot);
    EXPECT_FALSE(is_new);
    EXPECT_EQ(memory.ends.find(3, 37 * state), slot);
    EXPECT_EQ(memory.ends.find(4, 37 * state), kNoSlot) << "another mark";
    EXPECT_EQ(memory.ends.find(3, 37 * state + 1), kNoSlot);
  }
  bool is_new = true;
  EXPECT_EQ(memory.ends.insert(3, 12345, is_new), kNoSlot);
  EXPECT_FALSE(is_new);
  EXPECT_EQ(memory.ends.find(3, 12345), kNoSlot);
}

TEST(LongEnds, FollowingStopsWhereAWalkFoundNoRoom) {
  FarMemory memory(kMostLongSlots);
  memory.ends.next(5, 7) = 9;
  memory.ends.next(6, 9) = static_cast<std::uint8_t>(kNoSlot);
  EXPECT_EQ(memory.ends.follow(5, 5, 7), 7u);
  EXPECT_EQ(memory.ends.follow(5, 6, 7), 9u);
  EXPECT_EQ(memory.ends.follow(5, 7, 7), kNoSlot);
  EXPECT_EQ(memory.ends.follow(5, 20, 7), kNoSlot);
}

TEST(LongEnds, TellWhereSubsequencesOfDenseBitsBegin) {
  EncodeParams params;
  params.backend = Backend::cpu;
  params.restart = RestartPolicy::none();
  params.quality = 97;
  params.huffman = HuffmanTables::optimal;
  const TestFrame frame = make_frame(Content::noise, PixelFormat::rgb24, 640, 480, 7);
  auto encoder = Encoder::create(params);
  std::vector<std::byte> jpeg;
  ASSERT_TRUE(encoder && encoder->encode(frame.view(), jpeg));
  const auto scan = read_scan(jpeg);
  ASSERT_TRUE(scan);
  const PairCycle cycle = make_pair_cycle(scan->header.layout);
  const auto tables = make_host_tables(tables_of(scan->header, cycle));
  const HostTables on_host{tables.get(), cycle};
  const auto words = words_of(scan->bytes);
  const auto subs = subsequences_of(*scan, on_host, words);
  int told = 0, all = 0;
  std::uint32_t most = 0;
  for (std::uint32_t first = 0; first + kFarSubsequences + 8 < subs.size();
       first += kFarSubsequences / 2) {
    const HostRow row(subs, words, on_host, first, kFarSubsequences);
    const FarChunk chunk(row, kMostLongSlots);
    const Told found = chunk.compare();
    ASSERT_EQ(found.broken, nullptr) << found.broken << ", chunk " << first;
    told += found.told;
    all += found.all;
    for (std::uint32_t mark = 0; mark < kHostMarks; ++mark) most = std::max(most, chunk.kept(mark));
  }
  EXPECT_GT(all, 500);
  EXPECT_GE(told, all * 8 / 10) << "of " << all << " marks; the others need the chunk before";
  EXPECT_GT(most, kMostEnds) << "these bits should need long walks";
}

}  // namespace
}  // namespace zerorun::test
