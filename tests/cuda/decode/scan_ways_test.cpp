// The order of the ways in which a scan is tried.
// SPDX-License-Identifier: MIT
#include "cuda/decode/scan_ways.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/cuda/decode/ways.hpp"

namespace zerorun {
namespace {

constexpr ScanWays::Fits kAll{true, true}, kGuessesOnly{true, false}, kNothing{false, false};

/// "usual", "guesses" or "every bit", and "waits" where chunks do not foretell, and "last".
std::string name(const ScanWays& ways) {
  const std::string walks = ways.walks() == FarWalks::if_dense       ? "usual"
                            : ways.walks() == FarWalks::from_guesses ? "guesses"
                                                                     : "every bit";
  return walks + (ways.foretells() ? "" : " waits") + (ways.is_last() ? " last" : "");
}

struct Known : ScanWays::Known {
  FarWalks usual = FarWalks::if_dense;  ///< if the first way is another
};
constexpr Known kToldWrong{{.told_wrong = true}}, kGuessesDid{{.guesses_did = true}},
    kPatient{{.more_late_walks = true}};
/// The usual way has long walks from guesses.
constexpr Known dense(ScanWays::Known known = {}) { return {known, FarWalks::from_guesses}; }

ScanWays begin(FarWalks first, const Known& known) {
  const FarWalks usual = first == FarWalks::if_dense ? first : known.usual;
  return {plan_of(first), plan_of(usual), known};
}

/// All ways until none is left, where each fails like this, the last again and again.
std::string ways(FarWalks first, std::vector<std::uint32_t> failures, const ScanWays::Fits& fits,
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
  EXPECT_EQ(ways(FarWalks::if_dense, {kUnsettled}, kAll), "usual, every bit, guesses last");
  EXPECT_EQ(ways(FarWalks::if_dense, {kUnsettled}, kGuessesOnly), "usual, guesses");
  EXPECT_EQ(ways(FarWalks::if_dense, {kUnsettled}, kNothing), "usual");
  EXPECT_EQ(ways(FarWalks::from_guesses, {kUnsettled}, kAll, dense()), "guesses, every bit");
  EXPECT_EQ(ways(FarWalks::from_every_bit, {kUnsettled}, kAll, dense()), "every bit, guesses last");
}

TEST(ScanWays, TooManyLateWalks) {
  EXPECT_EQ(ways(FarWalks::if_dense, {kLate}, kAll), "usual, every bit, guesses last");
  EXPECT_EQ(ways(FarWalks::if_dense, {kLate}, kGuessesOnly), "usual, guesses");
  EXPECT_EQ(ways(FarWalks::from_guesses, {kLate}, kAll, dense()),
            "guesses, every bit, guesses last");
  EXPECT_EQ(ways(FarWalks::from_guesses, {kLate}, kGuessesOnly, dense()), "guesses");
}

TEST(ScanWays, AWrongEnd) {
  EXPECT_EQ(ways(FarWalks::if_dense, {kWrongEnd}, kAll),
            "usual, every bit, every bit waits, guesses last, guesses waits last, "
            "usual waits last");
  EXPECT_EQ(ways(FarWalks::if_dense, {kWrongEnd, kUnsettled}, kAll),
            "usual, every bit, guesses last, usual waits last");
  EXPECT_EQ(ways(FarWalks::if_dense, {kUnsettled, kUnsettled, kWrongEnd, kUnsettled}, kAll),
            "usual, every bit, guesses last, guesses waits last");
  EXPECT_EQ(ways(FarWalks::from_guesses, {kWrongEnd, kUnsettled}, kAll, dense()),
            "guesses, every bit, guesses waits last");
  EXPECT_EQ(ways(FarWalks::if_dense, {kWrongEnd, kUnsettled}, kGuessesOnly),
            "usual, guesses, usual waits");
  EXPECT_EQ(ways(FarWalks::if_dense, {kWrongEnd}, kNothing), "usual, usual waits");
  EXPECT_EQ(ways(FarWalks::from_guesses, {kWrongEnd}, kGuessesOnly, dense()),
            "guesses, guesses waits");
}

TEST(ScanWays, AScanLikeOneThatToldAWrongEnd) {
  EXPECT_EQ(ways(FarWalks::if_dense, {kUnsettled}, kAll, kToldWrong),
            "usual waits, every bit, guesses last");
  EXPECT_EQ(ways(FarWalks::from_guesses, {kUnsettled}, kAll, dense(kToldWrong)),
            "guesses waits, every bit");
  EXPECT_EQ(ways(FarWalks::from_guesses, {kLate}, kAll, dense(kToldWrong)),
            "guesses waits, every bit, guesses waits last");
}

TEST(ScanWays, AScanLikeOneThatGuessesDid) {
  EXPECT_EQ(ways(FarWalks::if_dense, {kUnsettled}, kAll, kGuessesDid), "usual, guesses, every bit");
  EXPECT_EQ(ways(FarWalks::if_dense, {kLate}, kAll, kGuessesDid), "usual, every bit, guesses last");
}

TEST(ScanWays, AScanLikeOneThatNeededMoreLateWalks) {
  EXPECT_EQ(ways(FarWalks::if_dense, {kLate}, kAll, kPatient), "usual, every bit, guesses last");
  EXPECT_EQ(ways(FarWalks::from_guesses, {kLate}, kAll, dense(kPatient)), "guesses, every bit");
  EXPECT_EQ(ways(FarWalks::from_guesses, {kWrongEnd, kUnsettled}, kAll, dense(kPatient)),
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
        for (const std::uint32_t faults : {kUnsettled, kWrongEnd, kLate, kWrongEnd | kLate}) {
          if (testing::Test::HasFatalFailure()) return;
          const bool told_wrong = (faults & kFaultForetold) != 0;
          Tried now = tried;
          now.usual_may_wait |= is_usual && ways.foretells() && told_wrong;
          ScanWays next = ways;
          if (next.choose_next(faults, fits)) {
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
        for (int bits = 0; bits < 8; ++bits) {
          if (first != FarWalks::if_dense && !fits.from_guesses) continue;
          if (first == FarWalks::from_every_bit && !fits.from_every_bit) continue;
          const bool is_other = first != FarWalks::if_dense && usual == FarWalks::if_dense;
          const Known known{{(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0}, usual};
          go(begin(first, known), fits, {false, false, is_other}, 0);
        }
  EXPECT_GT(sequences, 300);
}

}  // namespace
}  // namespace zerorun
