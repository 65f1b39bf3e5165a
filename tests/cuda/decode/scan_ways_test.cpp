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
  return walks + (ways.foretells() ? "" : " waits") + (ways.every_bit_failed() ? " last" : "");
}

struct Known : ScanWays::Known {
  FarWalks usual = FarWalks::if_dense;  ///< if the first way is another
};
constexpr Known kToldWrong{{.told_wrong = true}}, kGuessesMayDo{{.guesses_may_do = true}},
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

TEST(ScanWays, AScanThatGuessesMayDo) {
  EXPECT_EQ(ways(FarWalks::if_dense, {kUnsettled}, kAll, kGuessesMayDo),
            "usual, guesses, every bit");
  EXPECT_EQ(ways(FarWalks::if_dense, {kLate}, kAll, kGuessesMayDo),
            "usual, every bit, guesses last");
}

TEST(ScanWays, AScanLikeOneThatNeededMoreLateWalks) {
  EXPECT_EQ(ways(FarWalks::if_dense, {kLate}, kAll, kPatient), "usual, every bit, guesses last");
  EXPECT_EQ(ways(FarWalks::from_guesses, {kLate}, kAll, dense(kPatient)), "guesses, every bit");
  EXPECT_EQ(ways(FarWalks::from_guesses, {kWrongEnd, kUnsettled}, kAll, dense(kPatient)),
            "guesses, every bit, guesses waits last");
}

/// The usual way is tried before the careful decoder.
TEST(ScanWays, AScanLikeOneThatLongWalksDecoded) {
  EXPECT_EQ(ways(FarWalks::from_guesses, {kUnsettled}, kAll),
            "guesses, every bit, usual waits last");
  EXPECT_EQ(ways(FarWalks::from_guesses, {kUnsettled}, kGuessesOnly), "guesses, usual waits");
  EXPECT_EQ(ways(FarWalks::from_every_bit, {kUnsettled}, kAll),
            "every bit, guesses last, usual waits last");
}

/// Whatever the ways find, each kind of walks that fits is tried, none twice in the same way, and
/// there is an end.
TEST(ScanWays, NoneIsLeftOutOrRepeatedAndAllEnd) {
  int sequences = 0;
  using Names = std::vector<std::string>;
  const auto has = [](const Names& tried, const std::string& way) {
    return std::ranges::any_of(tried,
                               [&](const std::string& name) { return name.starts_with(way); });
  };
  // `usual_may_wait`: the usual way was not tried, or only without waiting, and told a wrong end.
  const std::function<void(ScanWays, ScanWays::Fits, const Known&, Names, bool)> go =
      [&](ScanWays ways, ScanWays::Fits fits, const Known& known, Names tried,
          bool usual_may_wait) {
        ASSERT_LT(tried.size(), 8u) << "no end";
        std::string now = name(ways);
        const bool is_guesses = ways.walks() == FarWalks::from_guesses;
        if (is_guesses && known.more_late_walks && !ways.every_bit_failed()) now += " last";
        EXPECT_EQ(std::ranges::count(tried, now), 0) << now;
        tried.push_back(now);
        const bool is_usual = ways.walks() == FarWalks::if_dense;
        if (is_usual && !ways.foretells()) usual_may_wait = false;
        for (const std::uint32_t faults : {kUnsettled, kWrongEnd, kLate, kWrongEnd | kLate}) {
          if (testing::Test::HasFatalFailure()) return;
          const bool told_wrong = (faults & kFaultForetold) != 0;
          if (told_wrong && !ways.foretells()) continue;
          const bool may_wait = usual_may_wait || (is_usual && told_wrong);
          ScanWays next = ways;
          if (next.choose_next(faults, fits)) {
            go(next, fits, known, tried, may_wait);
            continue;
          }
          ++sequences;
          EXPECT_TRUE(has(tried, "guesses") || !fits.from_guesses);
          EXPECT_TRUE(has(tried, "every bit") || !fits.from_every_bit);
          EXPECT_FALSE(may_wait);
          EXPECT_FALSE(told_wrong) << "nobody waited";
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
          go(begin(first, known), fits, known, {}, is_other);
        }
  EXPECT_GT(sequences, 300);
}

}  // namespace
}  // namespace zerorun
