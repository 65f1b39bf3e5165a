// Walks from mark to mark: a mark keeps each state once, and over bits in which walks hardly meet
// the walks from guesses lead to the state in which each subsequence truly begins.
// SPDX-License-Identifier: MIT
#include "cuda/decode/long_ends.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "cuda/decode/tuning.hpp"
#include "tests/cuda/decode/host_scan.hpp"
#include "tests/support/test_frame.hpp"
#include "zerorun/encoder.hpp"

namespace zerorun::test {
namespace {

constexpr std::uint32_t kMarks = 64, kSlots = 128;
using Ends = LongEnds<kMarks>;

struct Memory {
  explicit Memory(std::uint32_t slots = kSlots)
      : words(Ends::bytes(slots) / 2, kFreeSlot), ends(Ends::at(words.data(), slots)) {}
  std::vector<std::uint16_t> words;
  Ends ends;
};

TEST(LongEnds, AMarkKeepsEachStateOnceAndSaysWhenItIsFull) {
  constexpr std::uint32_t kFew = 32;
  Memory memory(kFew);
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
  Memory memory;
  memory.ends.next(5, 7) = 9;
  memory.ends.next(6, 9) = static_cast<std::uint8_t>(kNoSlot);
  EXPECT_EQ(memory.ends.follow(5, 5, 7), 7u);
  EXPECT_EQ(memory.ends.follow(5, 6, 7), 9u);
  EXPECT_EQ(memory.ends.follow(5, 7, 7), kNoSlot);
  EXPECT_EQ(memory.ends.follow(5, 20, 7), kNoSlot);
}

/// The subsequences of a chunk, walked as sync_subsequences() does, by one thread.
class FarChunk {
 public:
  FarChunk(const CleanScan& scan, const HostTables& tables, std::uint32_t first_sub)
      : words_(words_of(scan.bytes)),
        tables_(tables),
        end_(scan.interval_first[1] * 8),
        first_sub_(first_sub) {
    for (std::uint32_t sub = 0; sub < kMarks * kMarkSubsequences;
         sub += sub < kWarmSubsequences ? kEarlyGuessStride : kLateGuessStride)
      for (std::uint32_t phase = 0; phase < static_cast<std::uint32_t>(tables.cycle.period);
           ++phase)
        walk_until_met(sub, pack({0, phase, 0}));
  }

  std::uint32_t start(std::uint32_t sub) const { return (first_sub_ + sub) * kSubsequenceBits; }
  const Ends& ends() const { return memory_.ends; }

 private:
  std::uint32_t pass(std::uint32_t sub, std::uint32_t packed) {
    const WalkState state = unpack_walk_state(packed);
    Walk walk{start(sub) + state.overshoot, state.phase, state.k};
    const std::uint32_t stop = start(sub + 1);
    test::skip(words_, tables_, {stop, end_}, walk);
    return pack({walk.bit - stop, walk.phase, walk.k});
  }
  void walk_until_met(std::uint32_t sub, std::uint32_t state) {
    std::uint32_t before = kNoSlot;
    for (bool is_new = true; is_new && sub < kMarks * kMarkSubsequences;) {
      state = pass(sub++, state);
      if (sub % kMarkSubsequences != 0) continue;
      const std::uint32_t mark = sub / kMarkSubsequences - 1;
      const std::uint32_t slot = memory_.ends.insert(mark, state, is_new);
      if (before != kNoSlot) memory_.ends.next(mark - 1, before) = static_cast<std::uint8_t>(slot);
      before = slot;
    }
  }

  std::vector<std::uint32_t> words_;
  HostTables tables_;
  std::uint32_t end_, first_sub_;
  Memory memory_;
};

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
  const auto entries = subsequence_entries(*scan, on_host);
  constexpr std::uint32_t kOwnMark = kWarmSubsequences / kMarkSubsequences - 1;
  constexpr std::uint32_t kSubs = kMarks * kMarkSubsequences;
  int told = 0, all = 0;
  std::uint32_t most = 0;
  for (std::uint32_t first = 0; first + kSubs + 8 < entries.size(); first += kSubs / 2) {
    const FarChunk chunk(*scan, on_host, first);
    const auto truth = [&](std::uint32_t mark) {
      const std::uint32_t sub = (mark + 1) * kMarkSubsequences;
      const Walk& at = entries[first + sub];
      return pack({at.bit - chunk.start(sub), at.phase, at.k});
    };
    const std::uint32_t number = chunk.ends().find(kOwnMark, truth(kOwnMark));
    for (std::uint32_t mark = kOwnMark; mark < kMarks; ++mark, ++all) {
      const std::uint32_t slot = chunk.ends().follow(kOwnMark, mark, number);
      if (slot == kNoSlot) continue;
      ++told;
      ASSERT_EQ(chunk.ends().state(mark, slot), truth(mark)) << "mark " << mark;
      std::uint32_t kept = 0;
      for (std::uint32_t i = 0; i < kSlots; ++i)
        kept += chunk.ends().state(mark, i) != kFreeSlot ? 1 : 0;
      most = std::max(most, kept);
    }
  }
  EXPECT_GT(all, 500);
  EXPECT_GE(told, all * 8 / 10) << "of " << all << " marks; the others need the chunk before";
  EXPECT_GT(most, kMostEnds) << "these bits should need long walks";
}

}  // namespace
}  // namespace zerorun::test
