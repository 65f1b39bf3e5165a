// The Huffman codes of a scan as the encoder looks them up: by run, size and sign of a coefficient
// at once, so that the bits that follow a code need no masking.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "codec/arith/symbol.hpp"
#include "codec/syntax/huffman_code.hpp"

namespace zerorun {

/// Row 0 has DC, row d has AC at distance d (run d - 1).
inline constexpr int kCodeRows = 17;
/// The codes of a row and size: luma negative, luma positive, chroma negative, chroma positive.
inline constexpr int kCodeSigns = 4;
/// Coefficients have a size of at most 11; the words of size 12 stay 0, which is no code.
inline constexpr int kMostCodeSize = 11, kNoCodeSize = 12;
/// Words from a size to the next one. More than the rows take, so that the commonest codes, of
/// short runs and small sizes, lie in different banks of shared memory.
inline constexpr int kSizeWords = 80;
static_assert(kSizeWords >= kCodeRows * kCodeSigns);
inline constexpr int kCodeWords = kSizeWords * (kNoCodeSize + 1);

/// The upper 16 bits of a word have the code, left-aligned; it is inverted for a negative
/// coefficient, whose appended bits have ones above them. The lower 16 bits have the length of code
/// and appended bits. Of size 0 are EOB, a negative code of row 0, DC of 0, a positive one, and ZRL
/// in row 16 with both signs, since it is looked up by the sign of the coefficient behind it.
struct alignas(16) CodeTable {
  std::uint32_t word[kCodeWords];
};

/// Whether a scan can contain the symbol: SSSS of DC, or RRRRSSSS of AC (T.81 F.1.2).
ZR_HD bool has_code_slot(bool ac, int symbol) {
  if (symbol % 16 > kMostCodeSize) return false;
  return ac ? symbol % 16 != 0 || symbol == kEob || symbol == kZrl : symbol < 16;
}

ZR_HD int code_slot(int destination, int row, int size, bool negative) {
  return size * kSizeWords + row * kCodeSigns + 2 * destination + (negative ? 0 : 1);
}

/// Index of the word of a symbol, for a coefficient of that sign.
ZR_HD int code_slot(bool ac, int destination, int symbol, bool negative) {
  if (symbol == 0) return code_slot(destination, 0, 0, ac);  // EOB, or DC of 0
  return code_slot(destination, ac ? symbol / 16 + 1 : 0, symbol % 16, negative);
}

ZR_HD std::uint32_t code_word(std::uint32_t code, std::uint32_t bits, std::uint32_t size,
                              bool negative) {
  if (bits == 0) return 0;
  const std::uint32_t aligned = code << (32 - bits), all = 0xFFFFFFFFu << (32 - bits);
  return (negative ? aligned ^ all : aligned) | (bits + size);
}

}  // namespace zerorun
