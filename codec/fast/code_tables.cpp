// Tables of the fast encoder.
// SPDX-License-Identifier: MIT
#include "codec/fast/code_tables.hpp"

#include <cstring>
#include <memory>

#include "codec/arith/symbol.hpp"

namespace zerorun::fast {

void fill_code_tables(const HuffmanEncodeTables& tables, CodeTables& out) {
  for (int t = 0; t < kEncodeTables; ++t)
    for (int s = 0; s < 256; ++s) {
      const auto ssss = static_cast<std::uint32_t>(s & 15);
      out.symbol[t][s] = (tables.code[t][s] << ssss) << 5 | (tables.bits[t][s] + ssss);
    }
  for (int t = 0; t < 2; ++t)
    for (int run = 0; run < 16; ++run)
      for (int value = -kDirectOffset; value < kDirectValues - kDirectOffset; ++value) {
        const Symbol symbol = make_symbol(run, value, 2 + t);
        out.direct[t][run * kDirectValues + value + kDirectOffset] =
            out.symbol[2 + t][symbol.rrrrssss] | std::uint32_t{symbol.appended} << 5;
      }
}

void fill_code_tables(const std::array<HuffmanSpec, kEncodeTables>& specs, CodeTables& out) {
  HuffmanEncodeTables tables;
  for (int t = 0; t < kEncodeTables; ++t)
    fill_encode_table(specs[static_cast<std::size_t>(t)], t, tables);
  fill_code_tables(tables, out);
}

const CodeTables& standard_code_tables() {
  static const auto kTables = [] {
    CodeTables out;
    fill_code_tables(standard_huffman_specs(), out);
    return out;
  }();
  return kTables;
}

void add_symbol_counts(const TokenCounts& tokens, SymbolCounts& out) {
  for (int t = 0; t < 2; ++t) {
    const std::uint32_t* count = tokens.count + t * kTokensPerTable;
    for (int i = 0; i < kTokenSymbol; ++i) {
      const int value = i % kDirectValues - kDirectOffset;
      out.count[2 + t][i / kDirectValues << 4 | category(value)] += count[i];
    }
    for (int s = 0; s < 256; ++s) out.count[2 + t][s] += count[kTokenSymbol + s];
  }
  for (int t = 0; t < kEncodeTables; ++t)
    for (int s = 0; s < 256; ++s) out.count[t][s] += tokens.count[kTokenLong + t * 256 + s];
}

void fill_token_codes(const CodeTables& tables, TokenCodes& out) {
  for (int t = 0; t < 2; ++t) {
    std::uint32_t* entry = out.entry + t * kTokensPerTable;
    std::memcpy(entry, tables.direct[t], sizeof tables.direct[t]);
    std::memcpy(entry + kTokenSymbol, tables.symbol[2 + t], sizeof tables.symbol[2 + t]);
  }
  std::memcpy(out.entry + kTokenLong, tables.symbol, sizeof tables.symbol);
}

}  // namespace zerorun::fast
