// Bits as bytes, for coded data that are made by hand.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "codec/syntax/huffman_code.hpp"

namespace zerorun::test {

class BitWriter {
 public:
  /// `stuffed`: a zero follows each FF.
  explicit BitWriter(std::vector<std::uint8_t>& out, bool stuffed = false)
      : out_(out), stuffed_(stuffed) {}

  void bits(std::uint32_t value, int count) {
    for (int i = count - 1; i >= 0; --i) {
      byte_ = byte_ << 1 | (value >> i & 1);
      if (++used_ != 8) continue;
      out_.push_back(static_cast<std::uint8_t>(byte_));
      if (stuffed_ && out_.back() == 0xFF) out_.push_back(0);
      used_ = 0;
    }
  }
  void codeword(const HuffmanEncodeTables& codes, int table, int symbol) {
    bits(codes.code[table][symbol], codes.bits[table][symbol]);
  }
  void align() {
    while (used_ != 0) bits(1, 1);
  }

 private:
  std::vector<std::uint8_t>& out_;
  bool stuffed_;
  std::uint32_t byte_ = 0;
  int used_ = 0;
};

}  // namespace zerorun::test
