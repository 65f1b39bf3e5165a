// Tables of the fast encoder: codeword, appended bits and their length from one look-up.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>

#include "codec/encode/symbol_histogram.hpp"
#include "codec/syntax/huffman_code.hpp"

namespace zerorun::fast {

/// AC values -32..31 have entries of their own; the others are put together from their category.
inline constexpr int kDirectValues = 64;
inline constexpr int kDirectOffset = 32;

/// An entry is bits << 5 | length: at most 27 bits and 5 for the length.
struct CodeTables {
  std::uint32_t direct[2][16 * kDirectValues];  ///< AC: by run * 64 + value + 32; value 0 is unused
  std::uint32_t symbol[kEncodeTables][256];     ///< by RRRRSSSS; the appended bits are 0
};

void fill_code_tables(const HuffmanEncodeTables& tables, CodeTables& out);
void fill_code_tables(const std::array<HuffmanSpec, kEncodeTables>& specs, CodeTables& out);
/// Of the tables of T.81 Annex K, made once.
const CodeTables& standard_code_tables();

// Tokens are what is kept of a block between counting its symbols and coding them. A token is a
// table's base, plus
// - run * 64 + value + 32 for an AC coefficient with a value of its own,
// - kTokenSymbol + RRRRSSSS for EOB and ZRL,
// or, for all else, kTokenLong + table * 256 + RRRRSSSS, followed by the appended bits.
inline constexpr int kTokenSymbol = 16 * kDirectValues;
inline constexpr int kTokensPerTable = kTokenSymbol + 256;
/// A bit of its own, so that one test shows whether there is such a token among several.
inline constexpr int kTokenLong = 1 << 12;
static_assert(2 * kTokensPerTable <= kTokenLong);
inline constexpr int kTokenKinds = kTokenLong + kEncodeTables * 256;
/// A DC and 63 AC coefficients of two tokens each; ZRL takes less than the zeros it stands for.
inline constexpr int kMaxBlockTokens = 2 * 64;

struct TokenCounts {
  std::uint32_t count[kTokenKinds];
};
struct TokenCodes {
  std::uint32_t entry[kTokenKinds];  ///< as in CodeTables
};

void add_symbol_counts(const TokenCounts& tokens, SymbolCounts& out);
void fill_token_codes(const CodeTables& tables, TokenCodes& out);

}  // namespace zerorun::fast
