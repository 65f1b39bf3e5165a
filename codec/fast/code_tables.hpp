// Tables of the fast encoder: codeword, appended bits and their length from one look-up.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>

#include "codec/encode/symbol_histogram.hpp"
#include "codec/syntax/huffman_code.hpp"

namespace zerorun::fast {

// A token is what is kept of a codeword between counting symbols and coding them, and the number of
// its entry in the tables. It is a table's base, plus
// - run * 64 + value + 32 for an AC coefficient of a value from -32 to 31,
// - kTokenSymbol + RRRRSSSS for EOB and ZRL,
// - kTokenDc + table * 512 + difference + 256 for a DC difference from -256 to 255,
// or, for all else, kTokenLong + table * 256 + RRRRSSSS, followed by the appended bits.
inline constexpr int kDirectValues = 64, kDirectOffset = 32;
inline constexpr int kDirectDiffs = 512, kDirectDiffOffset = 256;
inline constexpr int kTokenSymbol = 16 * kDirectValues;
inline constexpr int kTokensPerTable = kTokenSymbol + 256;
inline constexpr int kTokenDc = 2 * kTokensPerTable;
/// A bit of its own, so that one test shows whether there is such a token among several.
inline constexpr int kTokenLong = 1 << 12;
static_assert(kTokenDc + 2 * kDirectDiffs <= kTokenLong);
inline constexpr int kTokenKinds = kTokenLong + kEncodeTables * 256;
/// A DC and 63 AC coefficients of two tokens each; ZRL takes less than the zeros it stands for.
inline constexpr int kMaxBlockTokens = 2 * 64;

/// An entry is bits << kLengthBits | length: a codeword with its appended bits, or behind
/// kTokenLong a codeword alone, whose length counts those bits too. Shifts of 64 bits take the
/// length as it stands there.
inline constexpr int kLengthBits = 6;
struct CodeTables {
  std::uint32_t entry[kTokenKinds];
};
void fill_code_tables(const std::array<HuffmanSpec, kEncodeTables>& specs, CodeTables& out);

struct TokenCounts {
  std::uint32_t count[kTokenKinds];
};
void add_symbol_counts(const TokenCounts& tokens, SymbolCounts& out);

}  // namespace zerorun::fast
