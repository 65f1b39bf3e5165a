// The Huffman codes of a scan as the fused encoder looks them up: one word a symbol.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "codec/syntax/huffman_code.hpp"

namespace zerorun {

/// Codeword in the upper 16 bits, left-aligned; its length in the lower 5. Tables: AC luma, AC
/// chroma by RRRRSSSS, DC luma, DC chroma by SSSS.
struct alignas(16) CodeTable {
  std::uint32_t table[kEncodeTables][256];
};

/// The number of a table elsewhere, class * 2 + destination with DC first, and here.
ZR_HD int swap_class(int table) { return table ^ 2; }

ZR_HD std::uint32_t code_entry(std::uint32_t code, std::uint32_t bits) {
  return bits == 0 ? 0 : code << (32 - bits) | bits;
}

}  // namespace zerorun
