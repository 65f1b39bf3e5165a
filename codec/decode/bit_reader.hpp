// Reads codewords from clean bytes through a 64-bit window. CPU only.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace zerorun {

/// Bits after the end read as 0; the caller compares position() with its limit.
class BitReader {
 public:
  BitReader(const std::uint8_t* bytes, std::uint64_t byte_count, std::uint64_t bit)
      : bytes_(bytes), byte_count_(byte_count), next_(bit / 8), position_(bit - bit % 8) {
    refill();
    drop(static_cast<int>(bit % 8));
  }

  std::uint64_t position() const { return position_; }

  /// Afterwards at least 57 bits are available.
  void refill() {
    for (; available_ <= 56; available_ += 8, ++next_) {
      const std::uint64_t byte = next_ < byte_count_ ? bytes_[next_] : 0;
      window_ |= byte << (56 - available_);
    }
  }

  std::uint32_t peek16() const { return static_cast<std::uint32_t>(window_ >> 48); }

  /// Consumes the next `bits` bits (0..16).
  std::uint32_t take(int bits) {
    const auto value = static_cast<std::uint32_t>((window_ >> 1) >> (63 - bits));
    drop(bits);
    return value;
  }

  void drop(int bits) {
    window_ <<= bits;
    available_ -= bits;
    position_ += static_cast<std::uint64_t>(bits);
  }

 private:
  const std::uint8_t* bytes_;
  std::uint64_t byte_count_;
  std::uint64_t next_;        // the first byte that is not in window_
  std::uint64_t window_ = 0;  // next bit is the highest
  int available_ = 0;
  std::uint64_t position_;
};

}  // namespace zerorun
