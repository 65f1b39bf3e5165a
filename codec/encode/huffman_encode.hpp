// Encode stage 5: symbols -> codewords (T.81 F.1.2). Inverse: huffman_decode.
// SPDX-License-Identifier: MIT
#pragma once

#include "codec/arith/symbol.hpp"
#include "codec/base/exec.hpp"
#include "codec/syntax/huffman_code.hpp"

namespace zerorun {

/// A codeword with its appended bits: at most 16 + 11 bits.
struct HuffmanEncodeArgs {
  const Symbol* symbols;
  const std::uint32_t* symbol_total;  ///< one number: the number of symbols
  std::int64_t symbol_capacity;       ///< its upper bound, known to the host
  const HuffmanEncodeTables* tables;
  std::uint32_t* code;      ///< [symbol_total] out: value in the low bits
  std::uint8_t* code_bits;  ///< [symbol_total] out: 1..27
};

Status huffman_encode_cpu(const HuffmanEncodeArgs& args, Exec& exec);
Status huffman_encode_cuda(const HuffmanEncodeArgs& args, Exec& exec);

}  // namespace zerorun
