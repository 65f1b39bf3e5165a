// The Huffman codes of a scan as the encoder looks them up: by run, size and sign of a coefficient
// at once, so that the bits that follow a code need no masking.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "codec/arith/symbol.hpp"
#include "codec/syntax/huffman_code.hpp"

namespace zerorun {

/// Codes of one destination and sign: 17 rows of 16 sizes. Row 0 has DC, row d has AC at distance d
/// (run d - 1); size s > 0 stands in column s - 1.
inline constexpr int kCodeColumns = 16;
inline constexpr int kCodeRows = 17;
inline constexpr int kSignedCodes = kCodeRows * kCodeColumns;

/// Words before the first code, in whole vectors of four.
inline constexpr int kCodePad = 4;
inline constexpr int kCodeWords = kCodePad + 4 * kSignedCodes;

/// The upper 16 bits of a word have the code, left-aligned; it is inverted for a negative
/// coefficient, whose appended bits have ones above them. The lower 16 bits have the length of code
/// and appended bits. Order: luma negative, luma positive, chroma negative, chroma positive. Size 0
/// of a row stands one word before the row, which no other size uses: DC of 0 before row 0 of the
/// positive codes, EOB before row 0 of the negative ones, and ZRL before row 16 of both, since it
/// is looked up by the sign of the coefficient behind it.
struct alignas(16) CodeTable {
  std::uint32_t word[kCodeWords];
};

/// Whether a scan can contain the symbol: SSSS of DC, or RRRRSSSS of AC (T.81 F.1.2).
ZR_HD bool has_code_slot(bool ac, int symbol) {
  return ac ? symbol % 16 != 0 || symbol == kEob || symbol == kZrl : symbol < 16;
}

/// Index of a word of one destination and sign; `place` counts from size 0 of row 0.
ZR_HD int code_slot(int destination, int place, bool negative) {
  return kCodePad - 1 + (2 * destination + (negative ? 0 : 1)) * kSignedCodes + place;
}

/// Index of the word of a symbol, for a coefficient of that sign.
ZR_HD int code_slot(bool ac, int destination, int symbol, bool negative) {
  if (symbol == 0) return code_slot(destination, 0, ac);  // EOB, or DC of 0
  return code_slot(destination, ac ? symbol + kCodeColumns : symbol, negative);
}

ZR_HD std::uint32_t code_word(std::uint32_t code, std::uint32_t bits, std::uint32_t size,
                              bool negative) {
  if (bits == 0) return 0;
  const std::uint32_t aligned = code << (32 - bits), all = 0xFFFFFFFFu << (32 - bits);
  return (negative ? aligned ^ all : aligned) | (bits + size);
}

}  // namespace zerorun
