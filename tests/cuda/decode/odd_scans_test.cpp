// What the decoder remembers of scans that were planned wrongly.
// SPDX-License-Identifier: MIT
#include "cuda/decode/odd_scans.hpp"

#include <gtest/gtest.h>

namespace zerorun {
namespace {

constexpr std::uint32_t kBlocks = 48960;

/// Sizes that are not like each other.
ScanSize video(std::size_t number) { return {kBlocks, std::uint32_t{10000} << number}; }

TEST(OddScans, ThoseThatWereNotRememberedAreUsual) {
  OddScans odd;
  EXPECT_FALSE(odd.take({kBlocks, 10000}));
  EXPECT_FALSE(odd.take({0, 0}));
}

TEST(OddScans, AnEighthMoreOrLessIsAlike) {
  OddScans odd;
  odd.remember({kBlocks, 80000});
  EXPECT_TRUE(odd.take({kBlocks, 80000}));
  EXPECT_TRUE(odd.take({kBlocks, 90000}));
  EXPECT_TRUE(odd.take({kBlocks, 70000}));
  EXPECT_FALSE(odd.take({kBlocks, 90001}));
  EXPECT_FALSE(odd.take({kBlocks, 69999}));
  EXPECT_FALSE(odd.take({kBlocks + 1, 80000}));
}

TEST(OddScans, TheUsualPlanIsTriedAgain) {
  OddScans odd;
  for (int turn = 0; turn < 3; ++turn) {
    odd.remember(video(0));
    for (std::uint32_t i = 0; i < kScansAlike; ++i) ASSERT_TRUE(odd.take(video(0)));
    EXPECT_FALSE(odd.take(video(0)));
  }
}

TEST(OddScans, OneIsKnownUntilItIsForgotten) {
  OddScans odd;
  EXPECT_FALSE(odd.knows({0, 0}));
  EXPECT_FALSE(odd.knows(video(0)));
  odd.remember(video(0));
  EXPECT_TRUE(odd.knows(video(0)));
  EXPECT_FALSE(odd.knows(video(1)));
  for (std::uint32_t i = 0; i <= kScansAlike; ++i) odd.take(video(0));
  EXPECT_TRUE(odd.knows(video(0)));
  odd.forget(video(0));
  EXPECT_FALSE(odd.knows(video(0)));
}

TEST(OddScans, SeveralVideosInTurn) {
  OddScans odd;
  for (std::size_t i = 0; i < kOddScans; ++i) odd.remember(video(i));
  for (int turn = 0; turn < 3; ++turn)
    for (std::size_t i = 0; i < kOddScans; ++i) EXPECT_TRUE(odd.take(video(i))) << i;
}

TEST(OddScans, TheOneNotSeenForTheLongestTimeGivesWay) {
  OddScans odd;
  for (std::size_t i = 0; i < kOddScans; ++i) odd.remember(video(i));
  EXPECT_TRUE(odd.take(video(0)));
  odd.remember(video(kOddScans));
  EXPECT_FALSE(odd.take(video(1)));
  for (const std::size_t i : {std::size_t{0}, std::size_t{2}, kOddScans - 1, kOddScans})
    EXPECT_TRUE(odd.take(video(i))) << i;
}

TEST(OddScans, OnesAlikeHaveOnePlace) {
  OddScans odd;
  for (std::size_t i = 0; i < kOddScans; ++i) odd.remember(video(i));
  for (std::size_t i = 0; i < 2 * kOddScans; ++i) odd.remember(video(3));
  for (std::size_t i = 0; i < kOddScans; ++i) EXPECT_TRUE(odd.take(video(i))) << i;
}

TEST(OddScans, AForgottenOneLeavesItsPlaceToTheNext) {
  for (std::size_t forgotten = 0; forgotten < kOddScans; ++forgotten) {
    SCOPED_TRACE(forgotten);
    OddScans odd;
    for (std::size_t i = 0; i < kOddScans; ++i) odd.remember(video(i));
    odd.forget(video(forgotten));
    EXPECT_FALSE(odd.take(video(forgotten)));
    odd.remember(video(kOddScans));
    for (std::size_t i = 0; i <= kOddScans; ++i) EXPECT_EQ(odd.take(video(i)), i != forgotten) << i;
  }
}

/// 77,000 bytes are like 70,000 and 85,000, which are not like each other.
TEST(OddScans, AllOnesAlikeCount) {
  OddScans odd;
  odd.remember({kBlocks, 85000});
  odd.remember({kBlocks, 70000});
  for (std::uint32_t i = 0; i < 2 * kScansAlike; ++i) ASSERT_TRUE(odd.take({kBlocks, 77000})) << i;
  EXPECT_FALSE(odd.take({kBlocks, 77000}));
  odd.remember({kBlocks, 85000});
  odd.remember({kBlocks, 70000});
  odd.forget({kBlocks, 77000});
  EXPECT_FALSE(odd.take({kBlocks, 70000}));
  EXPECT_FALSE(odd.take({kBlocks, 85000}));
}

TEST(OddScans, AForgottenOneIsUsualAndTheOthersAreNot) {
  OddScans odd;
  odd.remember(video(0));
  odd.remember(video(1));
  odd.forget(video(0));
  odd.forget(video(2));
  EXPECT_FALSE(odd.take(video(0)));
  EXPECT_TRUE(odd.take(video(1)));
}

}  // namespace
}  // namespace zerorun
