// Decodes one codeword with its appended bits, for huffman_decode and huffman_sync of both
// backends.
// SPDX-License-Identifier: MIT
#pragma once

#include "codec/arith/host_device.hpp"
#include "codec/arith/symbol.hpp"
#include "codec/arith/zigzag.hpp"
#include "codec/syntax/huffman_code.hpp"
#include "zerorun/status.hpp"

namespace zerorun {

/// One codeword with its appended bits.
struct DecodedPair {
  RunLevel pair;
  Errc fault;
  bool end_of_block;  ///< EOB; a block also ends when k reaches 64
};

/// A codeword that needs more bits than the segment has is `truncated`, valid or not.
ZR_HD Errc check_code(int code_bits, int appended_bits, std::uint64_t position,
                      std::uint64_t end_bit) {
  if (code_bits == 0) return end_bit - position < 16 ? Errc::truncated : Errc::bad_huffman_code;
  return position + static_cast<std::uint64_t>(code_bits + appended_bits) > end_bit
             ? Errc::truncated
             : Errc::ok;
}

/// `Reader` is the backend's: BitReader of codec/decode, or the one of cuda/stages.
template <typename Reader>
ZR_HD DecodedPair decode_dc(Reader& reader, const HuffmanDecodeTable& table,
                            std::uint64_t end_bit) {
  reader.refill();
  const DecodedSymbol symbol = decode_symbol(table, reader.peek16());
  const int ssss = symbol.value & 15;
  if (const Errc fault = check_code(symbol.bits, ssss, reader.position(), end_bit);
      fault != Errc::ok)
    return {{}, fault, false};
  reader.drop(symbol.bits);
  const auto diff = static_cast<std::int16_t>(extend(reader.take(ssss), ssss));
  return {{diff, 0, 0}, Errc::ok, false};
}

/// `k` is the zig-zag index of the next coefficient, 1..63; it is advanced.
template <typename Reader>
ZR_HD DecodedPair decode_ac(Reader& reader, const HuffmanDecodeTable& table, std::uint64_t end_bit,
                            int& k) {
  reader.refill();
  const DecodedSymbol symbol = decode_symbol(table, reader.peek16());
  const int run = symbol.value >> 4, ssss = symbol.value & 15;
  if (const Errc fault = check_code(symbol.bits, ssss, reader.position(), end_bit);
      fault != Errc::ok)
    return {{}, fault, false};
  // Size 0 with a run below 15 ends the block, as in libjpeg (T.81 reserves all of them but EOB).
  if (ssss == 0 && run != 15) {
    reader.drop(symbol.bits);
    return {{}, Errc::ok, true};
  }
  if (k + run >= kBlockSize) return {{}, Errc::run_past_block_end, false};
  reader.drop(symbol.bits);
  const auto level = static_cast<std::int16_t>(extend(reader.take(ssss), ssss));
  k += run + 1;
  return {{level, static_cast<std::uint8_t>(run), 0}, Errc::ok, false};
}

}  // namespace zerorun
