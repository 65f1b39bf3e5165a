// Chunks of subsequences, synchronised on the host.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "cuda/decode/long_ends.hpp"
#include "cuda/decode/subsequence_ends.hpp"
#include "cuda/decode/tuning.hpp"
#include "tests/cuda/decode/host_scan.hpp"

namespace zerorun::test {

inline constexpr std::uint32_t kHostSubsequences = 64;
using HostEnds = SubsequenceEnds<kHostSubsequences>;

inline std::unique_ptr<HostEnds> make_ends() {
  auto ends = std::make_unique<HostEnds>();
  ends->most = kMostEnds;
  return ends;
}

inline void follow_all_segments(HostEnds& ends) {
  for (std::uint32_t segment = 1; segment < HostEnds::kSegments; ++segment)
    for (std::uint32_t number = 0; number <= kMostEnds; ++number)
      ends.follow_segment(segment, number);
}

/// Some subsequences of a scan of one interval, walked as sync_subsequences() does.
class Chunk {
 public:
  Chunk(const CleanScan& scan, const HostTables& tables, std::uint32_t first_sub)
      : words_(words_of(scan.bytes)),
        tables_(tables),
        end_(scan.interval_first[1] * 8),
        first_row_(first_sub) {
    for (std::uint32_t sub = 0; sub < kHostSubsequences; ++sub) {
      ends->head[sub] = first_sub + sub == 0;
      ends->open[sub] = start(sub) + kSubsequenceBits < end_;
    }
    walk_guesses();
    walk_ends();
    follow_all_segments(*ends);
  }

  bool exists(std::uint32_t sub) const { return start(sub) < end_; }
  std::uint32_t start(std::uint32_t sub) const { return (first_row_ + sub) * kSubsequenceBits; }

  std::unique_ptr<HostEnds> ends = make_ends();

 private:
  std::uint32_t walk(std::uint32_t sub, std::uint32_t from, const WalkState& state,
                     WalkTally& tally) {
    Walk walk{from + state.overshoot, state.phase, state.k};
    const std::uint32_t stop = std::min(start(sub) + kSubsequenceBits, end_);
    tally = test::skip(words_, tables_, {stop, end_}, walk);
    return pack({walk.bit - stop, walk.phase, walk.k});
  }

  void walk_guesses() {
    const auto period = static_cast<std::uint32_t>(tables_.cycle.period);
    for (std::uint32_t sub = 0; sub < kHostSubsequences; ++sub) {
      const bool head = ends->head[sub];
      for (std::uint32_t phase = 0; phase < (head ? 1 : period) && ends->open[sub]; ++phase) {
        WalkTally tally;
        ends->line[phase].reached[sub] =
            static_cast<std::uint16_t>(walk(sub, start(sub), {0, phase, 0}, tally));
        if (head) ends->line[0].step[sub] = make_step(tally);
      }
      ends->collect(sub, period);
    }
  }

  void walk_ends() {
    std::uint32_t walked[kHostSubsequences] = {};
    for (bool more = true; more;) {
      more = false;
      std::uint32_t entries[kHostSubsequences] = {};
      for (std::uint32_t sub = 1; sub < kHostSubsequences; ++sub)
        if (exists(sub)) entries[sub] = ends->count[sub - 1];
      for (std::uint32_t sub = 1; sub < kHostSubsequences; ++sub) {
        for (std::uint32_t number = walked[sub]; number < entries[sub]; ++number) {
          WalkTally tally;
          ends->line[number].reached[sub] = static_cast<std::uint16_t>(
              walk(sub, start(sub), unpack_walk_state(ends->line[number].state[sub - 1]), tally));
          ends->line[number].step[sub] = make_step(tally);
          more = true;
        }
        ends->match(sub, walked[sub], entries[sub]);
        walked[sub] = entries[sub];
      }
    }
  }

  std::vector<std::uint32_t> words_;
  HostTables tables_;
  std::uint32_t end_, first_row_;
};

inline constexpr std::uint32_t kHostMarks = 64, kHostSlots = 128;
using FarEnds = LongEnds<kHostMarks>;

struct FarMemory {
  explicit FarMemory(std::uint32_t slots = kHostSlots)
      : words(FarEnds::bytes(slots) / 2, kFreeSlot), ends(FarEnds::at(words.data(), slots)) {}
  std::vector<std::uint16_t> words;
  FarEnds ends;
};

/// The subsequences of a chunk, walked as sync_subsequences() does, by one thread.
class FarChunk {
 public:
  FarChunk(const CleanScan& scan, const HostTables& tables, std::uint32_t first_sub)
      : words_(words_of(scan.bytes)),
        tables_(tables),
        end_(scan.interval_first[1] * 8),
        first_sub_(first_sub) {
    for (std::uint32_t sub = 0; sub < kHostMarks * kMarkSubsequences;
         sub += sub < kWarmSubsequences ? kEarlyGuessStride : kLateGuessStride)
      for (std::uint32_t phase = 0; phase < static_cast<std::uint32_t>(tables.cycle.period);
           ++phase)
        walk_until_met(sub, pack({0, phase, 0}));
  }

  std::uint32_t start(std::uint32_t sub) const { return (first_sub_ + sub) * kSubsequenceBits; }
  const FarEnds& ends() const { return memory_.ends; }

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
    for (bool is_new = true; is_new && sub < kHostMarks * kMarkSubsequences;) {
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
  FarMemory memory_;
};

}  // namespace zerorun::test
