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

/// What is known of a scan from others like it.
struct Known {
  bool foretells = true, is_patient = false;
  FarWalks usual = FarWalks::if_dense;  ///< if the first way is another
};

ScanWays begin(FarWalks first, const Known& known) {
  const FarWalks usual = first == FarWalks::if_dense ? first : known.usual;
  return {plan_of(first), plan_of(usual), known.foretells, known.is_patient};
}
constexpr Known kDense{.usual = FarWalks::from_guesses};

/// All ways until none is left, where each fails like this, the last again and again.
std::string ways(FarWalks first, std::vector<Failure> failures, const ScanWays::Fits& fits,
                 const Known& known = {}) {
  ScanWays ways = begin(first, known);
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
  EXPECT_EQ(ways(FarWalks::from_guesses, {kUnsettled}, kAll, kDense), "guesses, every bit");
  EXPECT_EQ(ways(FarWalks::from_every_bit, {kUnsettled}, kAll, kDense), "every bit, guesses last");
}

TEST(ScanWays, TooManyLateWalks) {
  EXPECT_EQ(ways(FarWalks::if_dense, {kLate}, kAll), "usual, every bit, guesses last");
  EXPECT_EQ(ways(FarWalks::if_dense, {kLate}, kGuessesOnly), "usual, guesses");
  EXPECT_EQ(ways(FarWalks::from_guesses, {kLate}, kAll, kDense),
            "guesses, every bit, guesses last");
  EXPECT_EQ(ways(FarWalks::from_guesses, {kLate}, kGuessesOnly, kDense), "guesses");
}

TEST(ScanWays, LongWalksInMostChunks) {
  EXPECT_EQ(ways(FarWalks::if_dense, {kFar}, kAll), "usual, guesses, every bit");
  EXPECT_EQ(ways(FarWalks::from_guesses, {kFar}, kAll, kDense), "guesses, every bit");
  EXPECT_EQ(ways(FarWalks::if_dense, {kFarWrongEnd, kUnsettled}, kAll),
            "usual, every bit, guesses last, usual waits last");
}

TEST(ScanWays, AWrongEnd) {
  EXPECT_EQ(ways(FarWalks::if_dense, {kWrongEnd}, kAll),
            "usual, guesses, every bit, every bit waits, guesses waits last, usual waits last");
  EXPECT_EQ(ways(FarWalks::if_dense, {kWrongEnd, kUnsettled}, kAll),
            "usual, guesses, every bit, usual waits last");
  EXPECT_EQ(ways(FarWalks::from_guesses, {kFarWrongEnd, kUnsettled}, kAll, kDense),
            "guesses, every bit, guesses waits last");
  EXPECT_EQ(ways(FarWalks::if_dense, {kUnsettled, kFarWrongEnd, kUnsettled}, kAll),
            "usual, guesses, every bit, guesses waits last");
  EXPECT_EQ(ways(FarWalks::if_dense, {kWrongEnd, kUnsettled}, kGuessesOnly),
            "usual, guesses, usual waits");
  EXPECT_EQ(ways(FarWalks::if_dense, {kWrongEnd, kLate}, kAll),
            "usual, guesses, every bit, guesses last, usual waits last");
  EXPECT_EQ(ways(FarWalks::if_dense, {kWrongEnd}, kNothing), "usual, usual waits");
  EXPECT_EQ(ways(FarWalks::from_guesses, {kFarWrongEnd}, kGuessesOnly, kDense),
            "guesses, guesses waits");
}

TEST(ScanWays, AScanLikeOneThatToldAWrongEnd) {
  constexpr Known kToldWrong{.foretells = false}, kDenseToldWrong{false, false, kDense.usual};
  EXPECT_EQ(ways(FarWalks::if_dense, {kUnsettled}, kAll, kToldWrong),
            "usual waits, guesses, every bit");
  EXPECT_EQ(ways(FarWalks::from_guesses, {kFar}, kAll, kDenseToldWrong),
            "guesses waits, every bit");
  EXPECT_EQ(ways(FarWalks::from_guesses, {kLate}, kAll, kDenseToldWrong),
            "guesses waits, every bit, guesses waits last");
}

TEST(ScanWays, AScanLikeOneThatNeededMoreLateWalks) {
  constexpr Known kPatient{true, true, kDense.usual};
  EXPECT_EQ(ways(FarWalks::if_dense, {kLate}, kAll, kPatient), "usual, every bit, guesses last");
  EXPECT_EQ(ways(FarWalks::from_guesses, {kLate}, kAll, kPatient), "guesses, every bit");
  EXPECT_EQ(ways(FarWalks::from_guesses, {kWrongEnd, kUnsettled}, kAll, kPatient),
            "guesses, every bit, guesses waits last");
}

/// Not so this one: the usual way is tried before the careful decoder.
TEST(ScanWays, AScanLikeOneThatLongWalksDecoded) {
  EXPECT_EQ(ways(FarWalks::from_guesses, {kUnsettled}, kAll),
            "guesses, every bit, usual waits last");
  EXPECT_EQ(ways(FarWalks::from_guesses, {kUnsettled}, kGuessesOnly), "guesses, usual waits");
  EXPECT_EQ(ways(FarWalks::from_every_bit, {kUnsettled}, kAll),
            "every bit, guesses last, usual waits last");
}

/// Whatever the ways find, each kind of walks that fits is tried, and there is an end.
TEST(ScanWays, NoneIsLeftOutAndAllEnd) {
  std::vector<Failure> kinds;
  for (const std::uint32_t faults :
       {0u, kFaultForetold, kFaultLateWalks, kFaultForetold | kFaultLateWalks})
    for (const bool walked_far : {false, true})
      kinds.push_back({kFaultUnsettled | faults, walked_far});
  int sequences = 0;
  // What a sequence of ways has tried, and whether the usual one may be right if its chunks wait.
  struct Tried {
    bool guesses, every_bit, usual_may_wait;
  };
  const std::function<void(ScanWays, ScanWays::Fits, Tried, int)> go =
      [&](ScanWays ways, ScanWays::Fits fits, Tried tried, int depth) {
        ASSERT_LT(depth, 9) << "no end";
        const bool is_usual = ways.walks() == FarWalks::if_dense;
        tried.guesses |= ways.walks() == FarWalks::from_guesses;
        tried.every_bit |= ways.walks() == FarWalks::from_every_bit;
        if (is_usual && !ways.foretells()) tried.usual_may_wait = false;
        for (const Failure& failure : kinds) {
          if (testing::Test::HasFatalFailure()) return;
          const bool told_wrong = (failure.faults & kFaultForetold) != 0;
          Tried now = tried;
          now.usual_may_wait |= is_usual && ways.foretells() && told_wrong;
          ScanWays next = ways;
          if (next.choose_next(failure, fits)) {
            go(next, fits, now, depth + 1);
            continue;
          }
          ++sequences;
          EXPECT_TRUE(now.guesses || !fits.from_guesses);
          EXPECT_TRUE(now.every_bit || !fits.from_every_bit);
          EXPECT_FALSE(now.usual_may_wait);
          EXPECT_TRUE(!ways.foretells() || !told_wrong) << "nobody waited";
        }
      };
  for (const ScanWays::Fits& fits : {kAll, kGuessesOnly, kNothing})
    for (const FarWalks first :
         {FarWalks::if_dense, FarWalks::from_guesses, FarWalks::from_every_bit})
      for (const FarWalks usual : {FarWalks::if_dense, FarWalks::from_guesses})
        for (const bool foretells : {true, false})
          for (const bool is_patient : {true, false}) {
            if (first != FarWalks::if_dense && !fits.from_guesses) continue;
            if (first == FarWalks::from_every_bit && !fits.from_every_bit) continue;
            const bool is_other = first != FarWalks::if_dense && usual == FarWalks::if_dense;
            go(begin(first, {foretells, is_patient, usual}), fits, {false, false, is_other}, 0);
          }
  EXPECT_GT(sequences, 300);
}

}  // namespace
}  // namespace zerorun
