// The fast decoder's algorithm on the host.
// SPDX-License-Identifier: MIT
#include "tests/cuda/decode/host_subsequences.hpp"

#include <algorithm>
#include <numeric>

#include "codec/arith/symbol.hpp"

namespace zerorun::test {
namespace {

void fill_symbols(const HuffmanDecodeTable& own, int side, std::uint32_t* out) {
  for (std::uint32_t i = 0; i < (1u << kSymbolIndexBits); ++i) {
    const DecodedSymbol symbol = decode_symbol(own, i << (kMaxCodeBits - kSymbolIndexBits));
    out[i] = symbol.bits != 0 && symbol.bits <= kSymbolIndexBits ? symbol_of(symbol, side) : 0;
  }
}

void fill_long_symbols(const HuffmanDecodeTable& own, int side, std::uint32_t* out) {
  for (std::uint32_t i = 0; i < kLongSymbols; ++i)
    out[i] = symbol_of(decode_symbol(own, 0xFFFF - i), side);
}

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
  StoredPairs* sub;
  std::uint32_t next;

  void block_starts_if(bool condition, std::uint32_t block, std::uint32_t pair) const {
    if (condition) sub->blocks.push_back({block, pair});
  }
  void put_if(bool condition, std::uint32_t index, std::uint32_t word) {
    if (!condition) return;
    sub->in_order = sub->in_order && index == next++;
    sub->pairs.push_back(word);
  }
  void finish(std::uint32_t end) const { sub->in_order = sub->in_order && end == next; }
};

struct SkipTables : HostTables {
  std::uint32_t look_up(std::uint32_t table, std::uint32_t index) const {
    return tables->skip[side(table)][pair(table)][index];
  }
};
struct SymbolTables : HostTables {
  std::uint32_t look_up(std::uint32_t table, std::uint32_t index) const {
    return tables->symbol[side(table)][pair(table)][index];
  }
};

}  // namespace

std::unique_ptr<WalkTables> make_host_tables(std::span<const TablePair> pairs) {
  auto out = std::make_unique<WalkTables>();
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    fill_decode_table(pairs[p].dc, out->source[kDcSide][p]);
    fill_decode_table(pairs[p].ac, out->source[kAcSide][p]);
    for (const int side : {kDcSide, kAcSide}) {
      fill_symbols(out->source[side][p], side, out->symbol[side][p]);
      fill_long_symbols(out->source[side][p], side, out->long_symbol[side][p]);
      for (std::uint32_t i = 0; i < (1u << kSkipBits); ++i)
        out->skip[side][p][i] =
            skip_entry(out->source[kDcSide][p], out->source[kAcSide][p], side, i);
    }
  }
  return out;
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

WalkTally skip(std::span<const std::uint32_t> words, const HostTables& tables, WalkSpan span,
               Walk& walk) {
  return skip_subsequence(HostBits{words}, SkipTables{tables}, span, walk.bit, walk.phase, walk.k);
}

StoredPairs decode(std::span<const std::uint32_t> words, const HostTables& tables, WalkSpan span,
                   PairTarget target, Walk& walk) {
  StoredPairs sub;
  sub.faults = decode_subsequence(HostBits{words}, SymbolTables{tables}, span, target,
                                  Sink{&sub, target.pair}, walk.bit, walk.phase, walk.k);
  sub.end = target;
  return sub;
}

}  // namespace zerorun::test
