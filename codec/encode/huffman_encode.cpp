// CPU reference of Huffman coding. CUDA twin: cuda/stages/huffman_encode.cu.
// SPDX-License-Identifier: MIT
#include "codec/encode/huffman_encode.hpp"

namespace zerorun {

Status huffman_encode_cpu(const HuffmanEncodeArgs& a, Exec&) {
  for (std::uint32_t i = 0; i < *a.symbol_total; ++i) {
    const Symbol symbol = a.symbols[i];
    const int ssss = symbol.rrrrssss & 15;
    a.code[i] = a.tables->code[symbol.table][symbol.rrrrssss] << ssss | symbol.appended;
    a.code_bits[i] =
        static_cast<std::uint8_t>(a.tables->bits[symbol.table][symbol.rrrrssss] + ssss);
  }
  return Status::ok();
}

}  // namespace zerorun
