// The GPU decoder's algorithm on the host: its tables, its bits, and a guard on reads.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#include "codec/syntax/huffman_code.hpp"
#include "cuda/decode/subsequence_walk.hpp"
#include "tests/support/random.hpp"
#include "zerorun/encoder.hpp"

namespace zerorun::test {

inline EncodeParams params_of(int quality, RestartPolicy restart = RestartPolicy::none(),
                              HuffmanTables huffman = HuffmanTables::standard,
                              Subsampling sampling = Subsampling::s420) {
  EncodeParams params;
  params.quality = quality;
  params.restart = restart;
  params.huffman = huffman;
  params.subsampling = sampling;
  return params;
}

struct TablePair {
  zerorun::HuffmanSpec dc, ac;
  friend bool operator==(const TablePair&, const TablePair&) = default;
};

/// As make_scan_tables() makes them on the device.
std::unique_ptr<WalkTables> make_host_tables(std::span<const TablePair> pairs);

/// In place of an entry that is not made yet. No entry is so.
inline constexpr std::uint32_t kNotMade = ~0u;
/// The same, but HostTables makes an entry when it is looked up: to make all takes longer than to
/// walk over a small scan.
std::unique_ptr<WalkTables> make_lazy_tables(std::span<const TablePair> pairs);

/// Tables with codewords of all lengths; EOB is among the AC symbols, and runs of no level.
TablePair random_tables(Random& random);
/// T.81's tables for luma and chroma, the shortest that there can be, random ones, all AC with 16
/// bits, and a codeword of every length with EOB the longest.
std::vector<TablePair> sample_tables();

/// `blocks_per_mcu` blocks that take their tables from `pairs` in turn.
PairCycle cycle_of(std::uint32_t pairs, std::int32_t blocks_per_mcu);

/// The `Tables` of a walk: tables are identified by number, blocks by their phase.
struct HostTables {
  WalkTables* tables;
  PairCycle cycle;

  std::uint32_t skip_of(std::uint32_t table, std::uint32_t index) const;
  std::uint32_t symbol_of(std::uint32_t table, std::uint32_t index) const;
  std::uint32_t long_symbol(std::uint32_t table, std::uint32_t next16) const;
  std::uint32_t ac_of(std::uint32_t dc) const { return dc + pairs(); }
  static std::uint32_t place(std::uint32_t phase) { return phase; }
  BlockTables block(std::uint32_t place) const {
    return {cycle.pair[place], place + 1 == period() ? 0 : place + 1};
  }
  std::uint32_t phase_before(std::uint32_t place) const {
    return place == 0 ? period() - 1 : place - 1;
  }

 protected:
  int side(std::uint32_t table) const { return table < pairs() ? kDcSide : kAcSide; }
  std::uint32_t period() const { return static_cast<std::uint32_t>(cycle.period); }
  std::uint32_t pairs() const { return static_cast<std::uint32_t>(cycle.pairs); }
  std::uint32_t pair(std::uint32_t table) const { return table % pairs(); }
};

/// Bytes as the words that the kernels read, with zeros behind them.
std::vector<std::uint32_t> words_of(std::span<const std::uint8_t> bytes);

/// Throws where a walk reads too far, or makes so many steps that it may never end.
struct HostBits {
  std::span<const std::uint32_t> all;
  std::uint64_t most_steps = 2 * (kSubsequenceBits + kMostStepBits) + 2;

  struct Place {
    std::span<const std::uint32_t> all;
    std::size_t word;
    std::uint64_t steps_left;
  };
  Place place(std::uint32_t bit) const { return {all, bit / 32, most_steps}; }
  static std::uint32_t take(Place& at) {
    if (at.word >= at.all.size()) throw std::out_of_range("read behind the bits");
    return at.all[at.word++];
  }
  static void shift_if(std::uint32_t condition, WordPair& words, Place& at) {
    if (at.steps_left-- == 0) throw std::runtime_error("a walk without end");
    if (condition != 0) words = {words.second, take(at)};
  }
};

/// Where a walk stands, before a codeword.
struct Walk {
  std::uint32_t bit, phase, k;
  bool operator==(const Walk&) const = default;
};

/// A (run, level) pair by a walk.
struct HostPair {
  std::uint32_t index;
  std::int32_t level;
  bool operator==(const HostPair&) const = default;
};

/// Stores the pairs of a walk's step as a sink has to; returns how many.
std::uint32_t store_pairs(std::vector<HostPair>& to, const WalkPair& first, const WalkPair& second);

/// What a subsequence's decoding stored.
struct StoredPairs {
  struct Block {
    std::uint32_t number, first_pair;
    bool operator==(const Block&) const = default;
  };
  std::vector<HostPair> pairs;  ///< in the order in which they came
  std::vector<Block> blocks;    ///< those whose DC stands in the subsequence
  PairTarget end{};             ///< after the last
  std::uint32_t faults = 0;
  bool in_order = true;  ///< each pair came after the one before, and finish() after the last
};

/// skip_subsequence() and decode_subsequence(), moving `walk` on.
WalkTally skip(std::span<const std::uint32_t> words, const HostTables& tables, WalkSpan span,
               Walk& walk);
StoredPairs decode(std::span<const std::uint32_t> words, const HostTables& tables, WalkSpan span,
                   PairTarget target, Walk& walk);

}  // namespace zerorun::test
