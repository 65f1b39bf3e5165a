// How a chunk's subsequences are synchronised: following maps by segments leads where single steps
// lead, and for real streams to the state in which each subsequence truly begins.
// SPDX-License-Identifier: MIT
#include "cuda/decode/chunk_states.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/cuda/decode/host_chunk.hpp"
#include "tests/support/test_frame.hpp"

namespace zerorun::test {
namespace {

TEST(SubsequenceEnds, StridesLeadWhereStepsLead) {
  Random random(41);
  for (int turn = 0; turn < 300; ++turn) {
    auto ends = make_ends();
    for (std::uint32_t sub = 0; sub < kHostSubsequences; ++sub) {
      ends->head[sub] = random.below(20) == 0;
      ends->open[sub] = random.below(20) != 0;
      ends->count[sub] = static_cast<std::uint8_t>(random.below(kMostEnds + 1));
      for (std::uint32_t number = 0; number < kMostEnds; ++number) {
        const bool foreign = ends->count[sub] == 0 || random.below(10) == 0;
        const auto next =
            foreign ? kForeignEnd : static_cast<std::uint32_t>(random.below(ends->count[sub]));
        ends->line[number].step[sub] = make_step({3, 5}) | next << kStepNextShift;
      }
    }
    follow_all_segments(*ends);
    for (std::uint32_t from = kSegmentSubsequences; from < kHostSubsequences;
         from += kSegmentSubsequences)
      for (std::uint32_t number = 0; number <= ends->count[from - 1]; ++number) {
        std::uint32_t now = number < ends->count[from - 1] ? number : kForeignEnd;
        const std::uint32_t first = now;
        for (std::uint32_t to = from; to <= kHostSubsequences; ++to) {
          ASSERT_EQ(ends->follow_subsequences(from, to, first), now) << from << " to " << to;
          if (to < kHostSubsequences) now = ends->follow(to, now);
        }
      }
  }
}

TEST(SubsequenceEnds, NothingIsWrittenBehindTheLinesThatThereAre) {
  auto ends = make_ends();
  ends->most = kSparseEnds;
  ends->open[3] = true;
  constexpr std::uint16_t kUntouched = 0xABCD;
  ends->line[kSparseEnds].state[3] = kUntouched;
  for (std::uint32_t i = 0; i < kMaxBlocksPerMcu; ++i)
    ends->line[i].reached[3] = static_cast<std::uint16_t>(i);
  ends->collect(3, kMaxBlocksPerMcu);
  for (std::uint32_t i = 0; i < kSparseEnds; ++i) {
    ends->line[i].reached[3] = static_cast<std::uint16_t>(100 + i);
    ends->line[i].step[3] = make_step({1, 1});
  }
  ends->match(3, 0, kSparseEnds, kSparseEnds);
  EXPECT_EQ(ends->count[3], kSparseEnds);
  EXPECT_EQ(ends->follow(3, 0), kSparseEnds - 1);
  EXPECT_EQ(ends->follow(3, 1), kForeignEnd);
  EXPECT_EQ(ends->line[kSparseEnds].state[3], kUntouched);
}

TEST(SubsequenceEnds, OneColourNeedsFewRounds) {
  // Each block but the first takes two zero bits; subsequences begin between the two, so that walks
  // from guesses stay one bit apart.
  TestFrame frame(PixelFormat::yuv420p, 640, 640, Layout::tight, 128);
  for (int y = 0; y < 640; ++y) std::fill_n(frame.row(0, y), 640, std::uint8_t{96});
  auto clean =
      encoded_scan(frame.view(), params_of(75, RestartPolicy::none(), HuffmanTables::optimal));
  ASSERT_TRUE(clean);
  const RowsOfScan scan(std::move(*clean));
  ASSERT_GT(scan.subs.size(), 1 + kHostSubsequences);
  ASSERT_EQ(scan.subs[2].entry.bit, scan.subs[2].start + 1);
  const HostRow first = scan.row(0);
  const Chunk chunk(first, {});
  EXPECT_EQ(chunk.compare().broken, nullptr);
  EXPECT_LE(chunk.rounds(), kOfferRounds + 2);
  EXPECT_GE(Chunk(first, {kGuessStride, kMostEnds, kOfferRounds, 1000}).rounds(),
            kHostSubsequences - 2)
      << "without the offers, one round a subsequence";
}

class SubsequenceEndsOfScan : public testing::TestWithParam<Subsampling> {};

TEST_P(SubsequenceEndsOfScan, LeadToWhereSubsequencesBegin) {
  const TestFrame frame = make_frame(Content::photo, PixelFormat::rgb24, 640, 480, 7);
  auto clean = encoded_scan(
      frame.view(), params_of(90, RestartPolicy::none(), HuffmanTables::standard, GetParam()));
  ASSERT_TRUE(clean);
  const RowsOfScan scan(std::move(*clean));
  for (const std::uint32_t stride : {1u, kGuessStride}) {
    int found_starts = 0, all = 0;
    for (std::uint32_t first = 0; first + 1 < scan.subs.size(); first += kHostSubsequences / 2) {
      const HostRow row = scan.row(first);
      const FoundStarts found = Chunk(row, {stride, kMostEnds}).compare();
      ASSERT_EQ(found.broken, nullptr) << found.broken << ", chunk " << first;
      found_starts += found.found_starts;
      all += found.all;
    }
    EXPECT_GT(all, 50);
    EXPECT_GE(found_starts, all * 9 / 10)
        << "of " << all << " subsequences; the others are walked one by one";
  }
}

INSTANTIATE_TEST_SUITE_P(Samplings, SubsequenceEndsOfScan, testing::ValuesIn(kAllSubsamplings));

}  // namespace
}  // namespace zerorun::test
