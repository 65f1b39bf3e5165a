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
