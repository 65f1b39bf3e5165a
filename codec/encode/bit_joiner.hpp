// Joins the bits of the parts of a restart interval. CPU only.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <cstring>

#include "codec/arith/integer.hpp"

namespace zerorun {

/// Appends bit strings, each of which may end inside a byte.
class BitJoiner {
 public:
  explicit BitJoiner(std::uint8_t* out) : out_(out) {}

  void append(const std::uint8_t* in, std::uint64_t bits) {
    const int used = static_cast<int>(bits_ % 8);  // bits of the last byte so far
    std::uint8_t* out = out_ + bits_ / 8;
    const std::uint64_t bytes = ceil_div(bits, 8u);
    if (used == 0) {
      std::memcpy(out, in, bytes);
    } else {
      std::uint32_t carry = *out >> (8 - used);
      for (std::uint64_t i = 0; i < bytes; ++i) {
        carry = carry << 8 | in[i];
        out[i] = static_cast<std::uint8_t>(carry >> used);
      }
      out[bytes] = static_cast<std::uint8_t>(carry << (8 - used));
    }
    bits_ += bits;
  }

  /// Fills the last byte with 1-bits; returns the number of bytes.
  std::uint64_t finish() {
    const int used = static_cast<int>(bits_ % 8);
    if (used != 0) out_[bits_ / 8] |= static_cast<std::uint8_t>(0xFF >> used);
    return ceil_div(bits_, 8u);
  }

 private:
  std::uint8_t* out_;
  std::uint64_t bits_ = 0;
};

}  // namespace zerorun
