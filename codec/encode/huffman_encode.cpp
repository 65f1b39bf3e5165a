// CPU reference of Huffman coding. CUDA twin: cuda/stages/huffman_encode.cu.
// SPDX-License-Identifier: MIT
#include "codec/encode/huffman_encode.hpp"

#include "codec/base/multiversion.hpp"

namespace zerorun {
namespace {

ZR_MULTIVERSION void encode_symbols(const HuffmanEncodeArgs& a) {
  const std::uint32_t total = *a.symbol_total;
  // Local and restrict: otherwise the compiler assumes that the byte stores may change anything.
  const Symbol* __restrict symbols = a.symbols;
  const HuffmanEncodeTables& tables = *a.tables;
  std::uint32_t* __restrict code = a.code;
  std::uint8_t* __restrict code_bits = a.code_bits;
  for (std::uint32_t i = 0; i < total; ++i) {
    const Symbol symbol = symbols[i];
    const int ssss = symbol.rrrrssss & 15;
    code[i] = tables.code[symbol.table][symbol.rrrrssss] << ssss | symbol.appended;
    code_bits[i] = static_cast<std::uint8_t>(tables.bits[symbol.table][symbol.rrrrssss] + ssss);
  }
}

}  // namespace

Status huffman_encode_cpu(const HuffmanEncodeArgs& args, Exec&) {
  encode_symbols(args);
  return Status::ok();
}

}  // namespace zerorun
