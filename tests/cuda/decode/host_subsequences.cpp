// The GPU decoder's algorithm on the host.
// SPDX-License-Identifier: MIT
#include "tests/cuda/decode/host_subsequences.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <numeric>

#include "codec/arith/symbol.hpp"

namespace zerorun::test {
namespace {

/// `symbols` in a code with some codewords of every length, the first symbols with the short ones.
zerorun::HuffmanSpec random_code(Random& random, std::vector<std::uint8_t> symbols) {
  zerorun::HuffmanSpec spec;
  std::uint32_t code = 0;
  std::size_t given = 0;
  for (std::size_t length = 1; length <= kMaxCodeBits; ++length) {
    const std::uint32_t room = (1u << length) - 1 - code;
    const auto wanted = length == kMaxCodeBits ? 256 : random.below(static_cast<int>(length));
    const auto used =
        static_cast<std::uint32_t>(std::min({static_cast<std::size_t>(room), symbols.size() - given,
                                             static_cast<std::size_t>(wanted)}));
    // One short codeword must be left free for the longer ones.
    const std::uint32_t kept = length < kMaxCodeBits && used == room && used > 0 ? used - 1 : used;
    spec.bits[length] = static_cast<std::uint8_t>(std::min(kept, 255u));
    code = (code + spec.bits[length]) << 1;
    given += spec.bits[length];
  }
  std::copy_n(symbols.begin(), given, spec.values.begin());
  return spec;
}

std::vector<std::uint8_t> shuffled(Random& random, int count) {
  std::vector<std::uint8_t> symbols(static_cast<std::size_t>(count));
  std::iota(symbols.begin(), symbols.end(), std::uint8_t{0});
  for (int i = count - 1; i > 0; --i)
    std::swap(symbols[static_cast<std::size_t>(i)],
              symbols[static_cast<std::size_t>(random.below(i + 1))]);
  return symbols;
}

struct Sink {
  static constexpr std::uint32_t kBlockUnits = 1;
  StoredPairs* sub;
  std::uint32_t next;

  void block_starts_if(bool condition, std::uint32_t block, std::uint32_t pair) const {
    if (condition) sub->blocks.push_back({block, pair});
  }
  std::uint32_t put(std::uint32_t number, const WalkPair& first, const WalkPair& second) {
    sub->in_order = sub->in_order && number == next;
    next += store_pairs(sub->pairs, first, second);
    return next;
  }
  void finish(std::uint32_t end) const { sub->in_order = sub->in_order && end == next; }
};

struct SkipTables : HostTables {
  std::uint32_t look_up(std::uint32_t table, std::uint32_t index) const {
    return skip_of(table, index);
  }
};
struct SymbolTables : HostTables {
  std::uint32_t look_up(std::uint32_t table, std::uint32_t index) const {
    return symbol_of(table, index);
  }
};

}  // namespace

std::unique_ptr<WalkTables> make_lazy_tables(std::span<const TablePair> pairs) {
  auto out = std::make_unique_for_overwrite<WalkTables>();
  std::memset(out.get(), 0xFF, offsetof(WalkTables, source));
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    fill_decode_table(pairs[p].dc, out->source[kDcSide][p]);
    fill_decode_table(pairs[p].ac, out->source[kAcSide][p]);
  }
  return out;
}

std::unique_ptr<WalkTables> make_host_tables(std::span<const TablePair> pairs) {
  auto out = std::make_unique<WalkTables>();
  const auto lazy = make_lazy_tables(pairs);
  const HostTables tables{lazy.get(), cycle_of(static_cast<std::uint32_t>(pairs.size()), 1)};
  const auto count = static_cast<std::uint32_t>(pairs.size());
  for (std::uint32_t table = 0; table < 2 * count; ++table) {
    const int side = table < count ? kDcSide : kAcSide;
    const std::uint32_t p = table % count;
    out->source[side][p] = lazy->source[side][p];
    for (std::uint32_t i = 0; i < (1u << kSkipBits); ++i)
      out->skip[side][p][i] = tables.skip_of(table, i);
    for (std::uint32_t i = 0; i < (1u << kSymbolIndexBits); ++i)
      out->symbol[side][p][i] = tables.symbol_of(table, i);
    for (std::uint32_t i = 0; i < kLongSymbols; ++i)
      out->long_symbol[side][p][i] = tables.long_symbol(table, 0xFFFF - i);
  }
  return out;
}

std::uint32_t HostTables::skip_of(std::uint32_t table, std::uint32_t index) const {
  std::uint32_t& entry = tables->skip[side(table)][pair(table)][index];
  if (entry == kNotMade)
    entry = skip_entry(tables->source[kDcSide][pair(table)], tables->source[kAcSide][pair(table)],
                       side(table), index);
  return entry;
}

std::uint32_t HostTables::symbol_of(std::uint32_t table, std::uint32_t index) const {
  std::uint32_t& entry = tables->symbol[side(table)][pair(table)][index];
  if (entry == kNotMade)
    entry = symbol_entry(tables->source[kDcSide][pair(table)], tables->source[kAcSide][pair(table)],
                         side(table), index);
  return entry;
}

std::uint32_t HostTables::long_symbol(std::uint32_t table, std::uint32_t next16) const {
  const std::uint32_t from_last = 0xFFFF - next16;
  if (from_last < kLongSymbols) {
    std::uint32_t& entry = tables->long_symbol[side(table)][pair(table)][from_last];
    if (entry == kNotMade)
      entry = zerorun::symbol_of(decode_symbol(tables->source[side(table)][pair(table)], next16),
                                 side(table));
  }
  return long_symbol_of(*tables, side(table), pair(table), next16);
}

TablePair random_tables(Random& random) {
  auto ac = shuffled(random, 256);
  // EOB is one of the symbols that get a codeword for certain.
  std::swap(*std::ranges::find(ac, kEob), ac[static_cast<std::size_t>(random.below(8))]);
  return {random_code(random, shuffled(random, 16)), random_code(random, std::move(ac))};
}

std::vector<TablePair> sample_tables() {
  zerorun::HuffmanSpec shortest;
  shortest.bits[1] = 1;  // the codeword 0: category 0, or EOB
  std::vector<TablePair> out{{standard_huffman_spec(0), standard_huffman_spec(2)},
                             {standard_huffman_spec(1), standard_huffman_spec(3)},
                             {shortest, shortest}};
  Random random(5);
  for (int i = 0; i < 6; ++i) out.push_back(random_tables(random));
  zerorun::HuffmanSpec longest;
  longest.bits[kMaxCodeBits] = 255;
  std::iota(longest.values.begin(), longest.values.end(), std::uint8_t{0});
  out.push_back({standard_huffman_spec(0), longest});
  zerorun::HuffmanSpec ladder;
  std::fill_n(ladder.bits.begin() + 1, kMaxCodeBits, std::uint8_t{1});
  std::iota(ladder.values.begin(), ladder.values.begin() + 15, std::uint8_t{1});  // then EOB
  out.push_back({ladder, ladder});
  return out;
}

PairCycle cycle_of(std::uint32_t pairs, std::int32_t blocks_per_mcu) {
  PairCycle cycle{};
  cycle.period = pairs == 1 ? 1 : blocks_per_mcu;
  cycle.pairs = static_cast<std::int32_t>(pairs);
  for (std::int32_t i = 0; i < cycle.period; ++i)
    cycle.pair[i] = static_cast<std::uint8_t>(static_cast<std::uint32_t>(i) % pairs);
  return cycle;
}

std::vector<std::uint32_t> words_of(std::span<const std::uint8_t> bytes) {
  std::vector<std::uint32_t> words(bytes.size() / 4 + 5);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    words[i / 4] |= std::uint32_t{bytes[i]} << (24 - 8 * (i % 4));
  return words;
}

std::uint32_t store_pairs(std::vector<HostPair>& to, const WalkPair& first,
                          const WalkPair& second) {
  const std::size_t before = to.size();
  if (first.exists) to.push_back({first.index, first.level});
  if (second.exists && is_wide(second.level)) throw std::logic_error("a second level is wide");
  if (second.exists) to.push_back({second.index, second.level});
  return static_cast<std::uint32_t>(to.size() - before);
}

WalkTally skip(std::span<const std::uint32_t> words, const HostTables& tables, WalkSpan span,
               Walk& walk) {
  return skip_subsequence(HostBits{words}, SkipTables{tables}, span, walk.bit, walk.phase, walk.k);
}

StoredPairs decode(std::span<const std::uint32_t> words, const HostTables& tables, WalkSpan span,
                   PairTarget target, Walk& walk) {
  StoredPairs sub;
  Sink sink{&sub, target.pair};
  sub.faults = decode_subsequence(HostBits{words}, SymbolTables{tables}, span, target, sink,
                                  walk.bit, walk.phase, walk.k);
  sub.end = target;
  return sub;
}

}  // namespace zerorun::test
