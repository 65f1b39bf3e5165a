// What a decoder learns of the ways of scans, frame by frame.
// SPDX-License-Identifier: MIT
#include "cuda/decode/way_memory.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/cuda/decode/ways.hpp"

namespace zerorun {
namespace {

constexpr ScanSize kVideo{48960, 1000000};
constexpr std::uint32_t kRight = 0;

/// What comes of one kind of walks.
struct Walks {
  std::uint32_t faults = kRight;
  std::uint32_t if_they_wait = kRight;  ///< of chunks that wait for each other, behind a wrong end
  bool need_more_late_walks = false;    ///< otherwise there are too many late ones
};

/// What comes of the ways of a scan.
struct Scan {
  Walks usual{}, guesses{}, every_bit{};
  bool is_dense = false;  ///< the usual way is that from guesses
  bool is_slow = false;   ///< long walks from guesses would take less time than the usual way

  const Walks& walks(FarWalks kind) const {
    if (kind == FarWalks::if_dense) return usual;
    return kind == FarWalks::from_guesses ? guesses : every_bit;
  }
  std::uint32_t try_way(const ScanWays& ways, bool has_more_late_walks) const {
    const Walks& now = walks(ways.walks());
    if (now.need_more_late_walks && !has_more_late_walks) return kLate;
    const bool waits = !ways.foretells() && (now.faults & kFaultForetold) != 0;
    return waits ? now.if_they_wait : now.faults;
  }
};

/// The ways that a frame takes: u, g and e for usual, guesses and every bit, capital letters where
/// chunks wait, and "-" if all were in vain.
std::string decode(WayMemory& memory, const Scan& scan) {
  const WayMemory::Advice advice = memory.take(kVideo);
  const FarWalks usual = scan.is_dense ? FarWalks::from_guesses : FarWalks::if_dense;
  const FarWalks first = advice.first == FarWalks::if_dense ? usual : advice.first;
  ScanWays ways(plan_of(first), plan_of(usual), advice.known);
  std::string tried;
  std::uint32_t first_faults = 0;
  for (;;) {
    const FarWalks walks = ways.walks();
    tried += (ways.foretells() ? "uge" : "UGE")[static_cast<std::size_t>(walks)];
    const std::uint32_t faults =
        scan.try_way(ways, advice.known.more_late_walks || ways.every_bit_failed());
    if (tried.size() == 1) first_faults = faults;
    if (faults == kRight && tried.size() > 1)
      memory.learn(kVideo, first, first_faults, ways, scan.walks(walks).need_more_late_walks);
    else if (faults == kRight && walks == FarWalks::if_dense)
      memory.usual_was_right(kVideo, scan.is_slow);
    if (faults == kRight) return tried;
    const bool is_left = ways.choose_next(faults, {true, true});
    if (!is_left || ways.walks() != walks) memory.failed(kVideo, walks);
    if (!is_left) return tried + "-";
  }
}

/// Of `frames` frames those that differ from the one before, each with how many like it there are.
std::string frames_of(WayMemory& memory, const Scan& scan, int frames) {
  std::string text, last;
  int alike = 0;
  const auto end = [&] {
    if (alike > 0)
      text += (text.empty() ? "" : " ") + last + (alike > 1 ? "*" + std::to_string(alike) : "");
  };
  for (int i = 0; i < frames; ++i) {
    const std::string now = decode(memory, scan);
    if (now != last) {
      end();
      last = now;
      alike = 0;
    }
    ++alike;
  }
  end();
  return text;
}
std::string frames_of(const Scan& scan, int frames = 132) {
  WayMemory memory;
  return frames_of(memory, scan, frames);
}

TEST(WayMemory, TheUsualWayIsRight) { EXPECT_EQ(frames_of({}), "u*132"); }
TEST(WayMemory, TheUsualWayIsRightButSlow) {
  EXPECT_EQ(frames_of({.is_slow = true}), "u g*63 u g*63 u g*3");
}

/// Guesses are tried in the second frame; from time to time the usual way is.
TEST(WayMemory, OnlyWalksFromEveryBitAreRight) {
  EXPECT_EQ(frames_of({.usual = {kUnsettled}, .guesses = {kUnsettled}}),
            "ue ge e*63 ue e*63 ue e*2");
  EXPECT_EQ(frames_of({.guesses = {kUnsettled}, .is_dense = true}), "ge e*63 ge e*63 ge e*3");
}
TEST(WayMemory, SoManyLateWalksThatNoGuessSeemsRight) {
  EXPECT_EQ(frames_of({.usual = {kLate}}), "ue e*63 ue e*63 ue e*3");
}
TEST(WayMemory, WalksFromGuessesAreRightToo) {
  EXPECT_EQ(frames_of({.usual = {kUnsettled}}), "ue g*63 ug g*63 ug g*3");
}

/// More late walks are allowed as long as they are needed.
TEST(WayMemory, WalksFromGuessesNeedMoreLateWalks) {
  const Walks patient{.need_more_late_walks = true};
  for (const bool is_dense : {false, true}) {
    SCOPED_TRACE(is_dense);
    const Scan at_first{{kUnsettled}, patient, {kUnsettled}, is_dense},
        then{{kUnsettled}, patient, {}, is_dense};
    EXPECT_EQ(frames_of(at_first, 70), is_dense ? "geg g*63 geg g*5" : "ueg g*63 ugeg g*5");
    WayMemory memory;
    EXPECT_EQ(frames_of(memory, at_first, 2), is_dense ? "geg g" : "ueg g");
    EXPECT_EQ(frames_of(memory, then, 70), is_dense ? "g*62 ge e*7" : "g*62 uge e*7");
  }
}

/// One of the usual way may be chance: the next frame waits.
TEST(WayMemory, AWrongEnd) {
  EXPECT_EQ(frames_of({.guesses = {kWrongEnd, kUnsettled}, .is_dense = true}, 3), "ge e*2");
  EXPECT_EQ(frames_of({.usual = {kWrongEnd, kRight}}), "ue U*63 ue U*63 ue U*3");
  EXPECT_EQ(frames_of({.usual = {kWrongEnd, kUnsettled}, .guesses = {kUnsettled}}, 70),
            "ue Ue ge e*63 ue Ue e*2");
  EXPECT_EQ(frames_of({.usual = {kWrongEnd, kUnsettled}}, 70), "ue Ue g*63 ug Ug g*3");
  WayMemory memory;
  EXPECT_EQ(frames_of(memory, {.usual = {kWrongEnd, kRight}}, 1), "ue");
  EXPECT_EQ(frames_of(memory, {}, 66), "U*63 u*3");
}
TEST(WayMemory, OnlyWalksFromEveryBitThatWaitAreRight) {
  EXPECT_EQ(
      frames_of({.usual = {kUnsettled}, .guesses = {kUnsettled}, .every_bit = {kWrongEnd, kRight}},
                70),
      "ueE GeE E*63 ueE E*4");
}

/// Another video with scans of the same size.
TEST(WayMemory, WhatWasLearnedIsNoLongerTrue) {
  const Scan only_usual{.guesses = {kUnsettled}, .every_bit = {kUnsettled}};
  const Scan only_every_bit{.usual = {kUnsettled}, .guesses = {kUnsettled}};
  const Scan not_usual{.usual = {kUnsettled}};
  WayMemory memory;
  EXPECT_EQ(frames_of(memory, not_usual, 3), "ue g*2");
  EXPECT_EQ(frames_of(memory, only_usual, 70), "geU U*63 u*6");
  EXPECT_EQ(frames_of(memory, {.usual = {kLate}}, 2), "ue e");
  EXPECT_EQ(frames_of(memory, only_usual, 70), "egU U*63 u*6");
  EXPECT_EQ(frames_of(memory, only_every_bit, 3), "ue ge e");
  EXPECT_EQ(frames_of(memory, {}, 64), "e*62 u*2");
  EXPECT_EQ(frames_of(memory, not_usual, 3), "ue g*2") << "guesses are not tried";
  EXPECT_EQ(frames_of(memory, {.usual = {kWrongEnd, kRight}}, 64), "g*61 ug U*2");
  EXPECT_EQ(frames_of(memory, {}, 65), "U*61 u*4");
  EXPECT_EQ(frames_of(memory, only_every_bit, 3), "ue ge e") << "guesses come before every bit";
}
TEST(WayMemory, MoreLateWalksAreNoLongerNeeded) {
  const Walks patient{.need_more_late_walks = true};
  const Scan then{.usual = {kUnsettled}, .guesses = patient};
  WayMemory memory;
  EXPECT_EQ(frames_of(memory, {{kUnsettled}, patient, {kUnsettled}}, 2), "ueg g");
  EXPECT_EQ(frames_of(memory, {.usual = {kUnsettled}}, 63), "g*62 ug");
  EXPECT_EQ(frames_of(memory, then, 2), "ge e");
}

/// Whatever the ways find, a right one is found, and learned soon.
TEST(WayMemory, EveryKindOfScan) {
  const std::vector<Walks> kinds = {{kRight},
                                    {kUnsettled},
                                    {kLate},
                                    {kWrongEnd, kRight},
                                    {kWrongEnd, kUnsettled},
                                    {kWrongEnd, kLate},
                                    {kWrongEnd | kLate, kRight},
                                    {.need_more_late_walks = true}};
  const auto may_be_right = [](const Walks& walks) {
    return walks.faults == kRight ||
           ((walks.faults & kFaultForetold) != 0 && walks.if_they_wait == kRight);
  };
  for (const Walks& usual : kinds)
    for (const Walks& guesses : kinds)
      for (const Walks& every_bit : kinds)
        for (const bool is_dense : {false, true}) {
          if (usual.need_more_late_walks || every_bit.need_more_late_walks) continue;
          const Scan scan{usual, guesses, every_bit, is_dense};
          const bool is_decodable = may_be_right(guesses) || may_be_right(every_bit) ||
                                    (!is_dense && may_be_right(usual));
          WayMemory memory;
          int several = 0;
          std::string tried;
          for (int frame = 0; frame < 200; ++frame) {
            const std::string ways = decode(memory, scan);
            tried += ways + " ";
            ASSERT_EQ(ways.back() == '-', !is_decodable) << tried;
            ASSERT_LE(ways.size(), 8u) << tried;
            several += ways.size() > 1 ? 1 : 0;
          }
          EXPECT_LE(is_decodable ? several : 0, 12) << tried;
        }
}

}  // namespace
}  // namespace zerorun
