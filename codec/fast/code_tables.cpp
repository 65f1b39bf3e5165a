// Tables of the fast encoder.
// SPDX-License-Identifier: MIT
#include "codec/fast/code_tables.hpp"

#include "codec/arith/symbol.hpp"

namespace zerorun::fast {

namespace {

std::uint32_t make_entry(std::uint32_t bits, int length) {
  return bits << kLengthBits | static_cast<std::uint32_t>(length);
}

/// Entries of table t for the values -offset..count - offset - 1 behind a run.
void fill_direct(const HuffmanEncodeTables& tables, int t, int run, int offset, int count,
                 std::uint32_t* out) {
  for (int i = 0; i < count; ++i) {
    const Symbol symbol = make_symbol(run, i - offset, t);
    const int s = symbol.rrrrssss, ssss = s & 15;
    out[i] = make_entry(tables.code[t][s] << ssss | symbol.appended, tables.bits[t][s] + ssss);
  }
}

}  // namespace

void fill_code_tables(const std::array<HuffmanSpec, kEncodeTables>& specs, CodeTables& out) {
  HuffmanEncodeTables tables;
  for (int t = 0; t < kEncodeTables; ++t)
    fill_encode_table(specs[static_cast<std::size_t>(t)], t, tables);
  for (int t = 0; t < kEncodeTables; ++t)
    for (int s = 0; s < 256; ++s)
      out.entry[kTokenLong + t * 256 + s] =
          make_entry(tables.code[t][s], tables.bits[t][s] + (s & 15));
  for (int t = 0; t < 2; ++t) {
    fill_direct(tables, t, 0, kDirectDiffOffset, kDirectDiffs,
                out.entry + kTokenDc + t * kDirectDiffs);
    std::uint32_t* const ac = out.entry + t * kTokensPerTable;
    for (int run = 0; run < 16; ++run)
      fill_direct(tables, 2 + t, run, kDirectOffset, kDirectValues, ac + run * kDirectValues);
    for (int s = 0; s < 256; ++s)
      ac[kTokenSymbol + s] = make_entry(tables.code[2 + t][s], tables.bits[2 + t][s]);
  }
}

void add_symbol_counts(const TokenCounts& tokens, SymbolCounts& out) {
  for (int t = 0; t < 2; ++t) {
    const std::uint32_t* const dc = tokens.count + kTokenDc + t * kDirectDiffs;
    for (int i = 0; i < kDirectDiffs; ++i) out.count[t][category(i - kDirectDiffOffset)] += dc[i];
    const std::uint32_t* const ac = tokens.count + t * kTokensPerTable;
    for (int i = 0; i < kTokenSymbol; ++i) {
      const int value = i % kDirectValues - kDirectOffset;
      out.count[2 + t][i / kDirectValues << 4 | category(value)] += ac[i];
    }
    for (int s = 0; s < 256; ++s) out.count[2 + t][s] += ac[kTokenSymbol + s];
  }
  for (int t = 0; t < kEncodeTables; ++t)
    for (int s = 0; s < 256; ++s) out.count[t][s] += tokens.count[kTokenLong + t * 256 + s];
}

}  // namespace zerorun::fast
