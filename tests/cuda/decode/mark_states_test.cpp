// Walks from mark to mark: a mark keeps each state once, and the walks from every bit lead to the
// state in which each subsequence truly begins.
// SPDX-License-Identifier: MIT
#include "cuda/decode/chunk_states.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/cuda/decode/host_chunk.hpp"
#include "tests/support/encode_params.hpp"
#include "tests/support/test_frame.hpp"

namespace zerorun::test {
namespace {

TEST(MarkStates, AMarkKeepsEachStateOnceAndSaysWhenItIsFull) {
  constexpr std::uint32_t kFew = 32;
  MarkMemory memory(kFew);
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

TEST(MarkStates, FollowingStopsWhereAWalkFoundNoRoom) {
  MarkMemory memory(kMarkSlots);
  memory.ends.next(5, 7) = 9;
  memory.ends.next(6, 9) = static_cast<std::uint8_t>(kNoSlot);
  EXPECT_EQ(memory.ends.follow(5, 5, 7), 7u);
  EXPECT_EQ(memory.ends.follow(5, 6, 7), 9u);
  EXPECT_EQ(memory.ends.follow(5, 7, 7), kNoSlot);
  EXPECT_EQ(memory.ends.follow(5, 20, 7), kNoSlot);
}

TEST(DistinctStates, EachIsNewOnce) {
  std::vector<std::uint32_t> memory(DistinctStates::bytes() / 4);
  const auto states = DistinctStates::at(reinterpret_cast<std::uint16_t*>(memory.data()));
  for (const std::uint32_t state : {0u, 1u, 31u, 32u, 0xFFFFu})
    EXPECT_TRUE(states.add(state)) << state;
  for (const std::uint32_t state : {0u, 1u, 31u, 32u, 0xFFFFu})
    EXPECT_FALSE(states.add(state)) << state;
  EXPECT_TRUE(states.add(33));
  const auto* const end = reinterpret_cast<const std::uint16_t*>(memory.data() + memory.size());
  EXPECT_EQ(states.list(2), states.list(0));
  EXPECT_EQ(states.list(1) - states.list(0), std::ptrdiff_t{DistinctStates::kMost});
  EXPECT_EQ(states.list(1) + DistinctStates::kMost, end);
  EXPECT_GE(static_cast<const void*>(states.list(0)), states.bits + DistinctStates::kWords);
}

/// The states before subsequence kWarmSubsequences by guesses at every second one before it.
std::vector<std::uint32_t> states_from_first_bits(const HostRow& row) {
  std::set<std::uint32_t> now;
  for (std::uint32_t sub = 0; sub < kWarmSubsequences; ++sub) {
    for (std::uint32_t phase = 0; sub % 2 == 0 && phase < row.period(); ++phase)
      now.insert(pack(WalkState{0, phase, 0}));
    std::set<std::uint32_t> next;
    WalkTally tally;
    for (const std::uint32_t state : now)
      next.insert(row.walk(sub, unpack_walk_state(state), tally));
    now.swap(next);
  }
  return {now.begin(), now.end()};
}

TEST(MarkStates, WalksFromEveryBitIncludeTheRightOne) {
  const auto is_black = [](int pattern, int x, int y) {
    switch (pattern) {
      case 0:
        return (x + y) % 2 == 0;
      case 1:
        return (x / 8 + y / 8) % 2 == 0;
      case 2:
        return (x + y) / 8 % 2 == 0;
      default:
        return (x * x + y * y) % 7 == 0;
    }
  };
  int rows = 0, missed = 0;
  for (int pattern = 0; pattern < 4; ++pattern)
    for (const Subsampling sampling : {Subsampling::gray, Subsampling::s420})
      for (const HuffmanTables huffman : {HuffmanTables::standard, HuffmanTables::optimal}) {
        SCOPED_TRACE(testing::Message() << "pattern " << pattern << ", " << name(sampling));
        TestFrame frame(PixelFormat::yuv420p, 800, 600, Layout::tight, 128);
        for (int y = 0; y < 600; ++y)
          for (int x = 0; x < 800; ++x) frame.row(0, y)[x] = is_black(pattern, x, y) ? 0 : 255;
        auto clean =
            encoded_scan(frame.view(), params_of(97, RestartPolicy::none(), huffman, sampling));
        ASSERT_TRUE(clean);
        const RowsOfScan scan(*std::move(clean));
        for (std::uint32_t first = 3; first + kWarmSubsequences < scan.subs.size(); first += 331) {
          const HostRow row = scan.row(first, kWarmSubsequences + 1);
          const std::uint32_t truth = row.entry(kWarmSubsequences);
          const auto states = states_from_every_bit(row, 0, kSeedSubsequences, kWarmSubsequences);
          EXPECT_EQ(std::ranges::count(states, truth), 1);
          EXPECT_LE(states.size(), std::size_t{kMarkSlots});
          const auto few = states_from_first_bits(row);
          missed += std::ranges::count(few, truth) == 0 ? 1 : 0;
          ++rows;
        }
      }
  EXPECT_GT(rows, 50);
  EXPECT_GT(missed, rows / 5) << "guesses alone should not do for these";
}

/// A device with little shared memory keeps fewer states. Where those of a later place find no
/// room, the walks from the place before must.
TEST(MarkStates, WalksFromEveryBitTellWhereAllSubsequencesBegin) {
  for (const Content content : {Content::noise, Content::checker})
    for (const std::uint32_t slots : {kMarkSlots, kMarkSlots / 2}) {
      SCOPED_TRACE(testing::Message() << name(content) << ", " << slots << " slots");
      const TestFrame frame = make_frame(content, PixelFormat::rgb24, 640, 480, 7);
      auto clean = encoded_scan(frame.view(), params_of(99, RestartPolicy::none(),
                                                        HuffmanTables::optimal, Subsampling::s444));
      ASSERT_TRUE(clean);
      const RowsOfScan scan(*std::move(clean));
      int found_starts = 0, all = 0;
      for (std::uint32_t first = 1; first + kMarkedSubsequences + 8 < scan.subs.size();
           first += kMarkedSubsequences) {
        const HostRow row = scan.row(first, kMarkedSubsequences);
        const FoundStarts found = MarkedChunk(row, slots).compare();
        ASSERT_EQ(found.broken, nullptr) << found.broken << ", chunk " << first;
        found_starts += found.found_starts;
        all += found.all;
      }
      EXPECT_GT(all, 200);
      EXPECT_EQ(found_starts, all);
    }
}

}  // namespace
}  // namespace zerorun::test
