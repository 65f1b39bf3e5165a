// Chunks of subsequences, synchronised on the host as sync_subsequences() does it. Each says what
// it found out about where its subsequences begin, against where they truly do.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "cuda/decode/chunk_states.hpp"
#include "cuda/decode/tuning.hpp"
#include "tests/cuda/decode/host_scan.hpp"

namespace zerorun::test {

/// How many of a chunk's starts were found, and the first promise that was broken, or null.
struct FoundStarts {
  int found_starts = 0, all = 0;
  const char* broken = nullptr;
};

/// A row of a scan's subsequences, whose bits are read as by a CTA: no word that it does not copy.
class HostRow {
 public:
  /// `subs` are all of the scan's, `first` is the number of the row's first one: some may be before
  /// or behind all of them.
  HostRow(std::span<const Subsequence> subs, std::span<const std::uint32_t> words,
          const HostTables& tables, std::int64_t first, std::uint32_t count);

  const Subsequence& at(std::uint32_t sub) const;
  bool exists(std::uint32_t sub) const { return at(sub).end != 0; }
  /// pack() of the state in which a subsequence truly begins.
  std::uint32_t entry(std::uint32_t sub) const;
  std::uint32_t period() const { return static_cast<std::uint32_t>(tables_.cycle.period); }
  /// Walks a subsequence from the state before it; returns the state after it, packed. Throws if
  /// that cannot be packed.
  std::uint32_t walk(std::uint32_t sub, const WalkState& state, WalkTally& tally) const;

 private:
  std::span<const Subsequence> subs_;
  std::span<const std::uint32_t> words_;
  HostTables tables_;
  std::int64_t first_;
  std::uint32_t first_word_ = 0;
};

inline constexpr std::uint32_t kHostSubsequences = 64;

/// A scan as rows are made of it.
struct RowsOfScan {
  explicit RowsOfScan(CleanScan clean) : scan(std::move(clean)) {}
  CleanScan scan;
  PairCycle cycle = make_pair_cycle(scan.header.layout);
  std::unique_ptr<WalkTables> tables = make_host_tables(tables_of(scan.header, cycle));
  HostTables on_host{tables.get(), cycle};
  std::vector<std::uint32_t> words = words_of(scan.bytes);
  std::vector<Subsequence> subs = subsequences_of(scan, on_host, words);

  HostRow row(std::uint32_t first, std::uint32_t count = kHostSubsequences) const {
    return {subs, words, on_host, first, count};
  }
};

using HostEnds = SubsequenceEnds<kHostSubsequences>;

std::unique_ptr<HostEnds> make_ends();

/// kHostSubsequences subsequences, by the ends that are possible for each.
class Chunk {
 public:
  struct Sizes {
    std::uint32_t guess_stride = kGuessStride;
    std::uint32_t most_ends = kMostEnds;        ///< at least the period
    std::uint32_t offer_rounds = kOfferRounds;  ///< perhaps fewer
    std::uint32_t offer_blocks = kOfferBlocks;
  };
  Chunk(const HostRow& row, const Sizes& sizes);

  FoundStarts compare() const;
  /// After how many rounds no new end turned up.
  std::uint32_t rounds() const { return rounds_; }

 private:
  void walk_guesses();
  void walk_ends();
  bool each_state_has_one_number() const;
  bool strides_lead_where_steps_lead() const;
  const char* compare_from(std::uint32_t from, FoundStarts& out) const;
  const char* compare_end(std::uint32_t sub, std::uint32_t number) const;

  const HostRow& row_;
  Sizes sizes_;
  std::uint32_t rounds_ = 0;
  bool full_ = false;  ///< an end found no room
  const char* broken_ = nullptr;
  std::unique_ptr<HostEnds> ends_ = make_ends();
};

inline constexpr std::uint32_t kHostMarks = 64;
inline constexpr std::uint32_t kMarkedSubsequences = kHostMarks * kMarkSubsequences;
using HostMarkStates = MarkStates<kHostMarks>;

struct MarkMemory {
  explicit MarkMemory(std::uint32_t slots)
      : words(HostMarkStates::bytes(slots) / 2, kFreeSlot),
        ends(HostMarkStates::at(words.data(), slots)) {}
  std::vector<std::uint16_t> words;
  HostMarkStates ends;
};

/// kMarkedSubsequences subsequences, by the exhaustive strategy's walks, one after the other.
class MarkedChunk {
 public:
  MarkedChunk(const HostRow& row, std::uint32_t slots);

  FoundStarts compare() const;

 private:
  std::uint32_t kept(std::uint32_t mark) const;
  void walk_from_every_bit();
  std::uint32_t arrive(std::uint32_t mark, std::uint32_t state, bool& is_new);
  void walk_until_met(std::uint32_t sub, std::uint32_t state, std::uint32_t before = kNoSlot);
  std::uint32_t truth(std::uint32_t mark) const;
  bool each_state_is_found() const;
  bool has_head_before(std::uint32_t mark) const;
  const char* compare_steps() const;

  const HostRow& row_;
  bool full_ = false;  ///< a state found no room
  const char* broken_ = nullptr;
  MarkMemory memory_;
};

}  // namespace zerorun::test
