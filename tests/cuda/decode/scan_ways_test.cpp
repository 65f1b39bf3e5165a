// The order of the ways in which a scan is tried.
// SPDX-License-Identifier: MIT
#include "cuda/decode/scan_ways.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace zerorun {
namespace {

using Failure = ScanWays::Failure;
constexpr Failure kUnsettled{kFaultUnsettled, false}, kFar{kFaultUnsettled, true},
    kWrongEnd{kFaultUnsettled | kFaultForetold, false},
    kFarWrongEnd{kFaultUnsettled | kFaultForetold, true},
    kLate{kFaultUnsettled | kFaultLateWalks, false};
constexpr ScanWays::Fits kAll{true, true}, kGuessesOnly{true, false}, kNothing{false, false};

SubsequencePlan plan_of(FarWalks walks) {
  SubsequencePlan plan{};
  plan.far_only = walks != FarWalks::if_dense;
  plan.every_bit = walks == FarWalks::from_every_bit;
  return plan;
}

/// "usual", "guesses" or "every bit", and "waits" where chunks do not foretell, and "last".
std::string name(const ScanWays& ways) {
  const std::string walks = ways.walks() == FarWalks::if_dense       ? "usual"
                            : ways.walks() == FarWalks::from_guesses ? "guesses"
                                                                     : "every bit";
  return walks + (ways.foretells() ? "" : " waits") + (ways.is_last() ? " last" : "");
}

/// All ways until none is left, where each fails like this, the last again and again.
std::string ways(FarWalks first, std::vector<Failure> failures, const ScanWays::Fits& fits,
                 bool foretells = true) {
  ScanWays ways(plan_of(first), foretells);
  std::string names = name(ways);
  for (std::size_t i = 0; ways.choose_next(failures[std::min(i, failures.size() - 1)], fits); ++i) {
    if (i == 20) return names + ", and so on";
    names += ", " + name(ways);
  }
  return names;
}

TEST(ScanWays, WalksThatMeetInAWrongState) {
  EXPECT_EQ(ways(FarWalks::if_dense, {kUnsettled}, kAll), "usual, guesses, every bit");
  EXPECT_EQ(ways(FarWalks::if_dense, {kUnsettled}, kGuessesOnly), "usual, guesses");
  EXPECT_EQ(ways(FarWalks::if_dense, {kUnsettled}, kNothing), "usual");
  EXPECT_EQ(ways(FarWalks::from_guesses, {kUnsettled}, kAll), "guesses, every bit");
  EXPECT_EQ(ways(FarWalks::from_every_bit, {kUnsettled}, kAll), "every bit, guesses last");
}

TEST(ScanWays, TooManyLateWalks) {
  EXPECT_EQ(ways(FarWalks::if_dense, {kLate}, kAll), "usual, every bit, guesses last");
  EXPECT_EQ(ways(FarWalks::if_dense, {kLate}, kGuessesOnly), "usual, guesses");
  EXPECT_EQ(ways(FarWalks::from_guesses, {kLate}, kAll), "guesses, every bit, guesses last");
  EXPECT_EQ(ways(FarWalks::from_guesses, {kLate}, kGuessesOnly), "guesses");
}

TEST(ScanWays, LongWalksInMostChunks) {
  EXPECT_EQ(ways(FarWalks::if_dense, {kFar}, kAll), "usual, every bit, guesses last");
  EXPECT_EQ(ways(FarWalks::if_dense, {kFar}, kGuessesOnly), "usual, guesses");
  EXPECT_EQ(ways(FarWalks::from_guesses, {kFar}, kAll), "guesses, every bit");
  EXPECT_EQ(ways(FarWalks::if_dense, {kFarWrongEnd, kUnsettled}, kAll),
            "usual, every bit, guesses last");
}

TEST(ScanWays, AWrongEnd) {
  EXPECT_EQ(ways(FarWalks::if_dense, {kWrongEnd}, kAll),
            "usual, guesses, every bit, every bit waits, guesses waits last");
  EXPECT_EQ(ways(FarWalks::if_dense, {kWrongEnd, kUnsettled}, kAll), "usual, guesses, every bit");
  EXPECT_EQ(ways(FarWalks::from_guesses, {kFarWrongEnd, kUnsettled}, kAll),
            "guesses, every bit, guesses waits last");
  EXPECT_EQ(ways(FarWalks::if_dense, {kUnsettled, kFarWrongEnd, kUnsettled}, kAll),
            "usual, guesses, every bit, guesses waits last");
  EXPECT_EQ(ways(FarWalks::if_dense, {kWrongEnd, kUnsettled}, kGuessesOnly), "usual, guesses");
  EXPECT_EQ(ways(FarWalks::if_dense, {kWrongEnd}, kNothing), "usual, usual waits");
  EXPECT_EQ(ways(FarWalks::from_guesses, {kFarWrongEnd}, kGuessesOnly), "guesses, guesses waits");
}

TEST(ScanWays, AScanLikeOneThatToldAWrongEnd) {
  EXPECT_EQ(ways(FarWalks::if_dense, {kUnsettled}, kAll, false), "usual waits, guesses, every bit");
  EXPECT_EQ(ways(FarWalks::from_guesses, {kFar}, kAll, false), "guesses waits, every bit");
}

/// Whatever the ways find, each kind of walks that fits is tried, and there is an end.
TEST(ScanWays, NoneIsLeftOutAndAllEnd) {
  std::vector<Failure> kinds;
  for (const std::uint32_t faults :
       {0u, kFaultForetold, kFaultLateWalks, kFaultForetold | kFaultLateWalks})
    for (const bool walked_far : {false, true})
      kinds.push_back({kFaultUnsettled | faults, walked_far});
  int sequences = 0;
  const std::function<void(ScanWays, ScanWays::Fits, bool, bool, int)> go =
      [&](ScanWays ways, ScanWays::Fits fits, bool guesses, bool every_bit, int depth) {
        ASSERT_LT(depth, 8) << "no end";
        guesses = guesses || ways.walks() == FarWalks::from_guesses;
        every_bit = every_bit || ways.walks() == FarWalks::from_every_bit;
        for (const Failure& failure : kinds) {
          if (testing::Test::HasFatalFailure()) return;
          ScanWays next = ways;
          if (next.choose_next(failure, fits)) {
            go(next, fits, guesses, every_bit, depth + 1);
            continue;
          }
          ++sequences;
          EXPECT_TRUE(guesses || !fits.from_guesses);
          EXPECT_TRUE(every_bit || !fits.from_every_bit);
          EXPECT_TRUE(!ways.foretells() || (failure.faults & kFaultForetold) == 0)
              << "nobody waited";
        }
      };
  for (const ScanWays::Fits& fits : {kAll, kGuessesOnly, kNothing})
    for (const FarWalks first :
         {FarWalks::if_dense, FarWalks::from_guesses, FarWalks::from_every_bit})
      for (const bool foretells : {true, false}) {
        if (first != FarWalks::if_dense && !fits.from_guesses) continue;
        if (first == FarWalks::from_every_bit && !fits.from_every_bit) continue;
        go(ScanWays(plan_of(first), foretells), fits, false, false, 0);
      }
  EXPECT_GT(sequences, 300);
}

}  // namespace
}  // namespace zerorun
