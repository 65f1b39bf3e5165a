// How a chunk's subsequences are synchronised: for real streams following maps of ends leads to the
// state in which each subsequence truly begins, and so do the walks from every bit.
// SPDX-License-Identifier: MIT
#include "cuda/decode/chunk_states.hpp"

#include <algorithm>
#include <utility>

#include <gtest/gtest.h>

#include "tests/cuda/decode/host_chunk.hpp"
#include "tests/support/test_frame.hpp"

namespace zerorun::test {
namespace {

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
