// Reads codewords from clean bytes through a 64-bit window. CPU only.
// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace zerorun {

/// Bits behind the end read as 0; the caller compares position() with its limit.
class BitReader {
 public:
  BitReader(const std::uint8_t* bytes, std::uint64_t byte_count, std::uint64_t bit)
      : next_(bytes + bit / 8), end_(bytes + byte_count), position_(bit) {
    if (next_ > end_) next_ = end_;
    refill();
    drop(static_cast<int>(bit % 8));
    position_ = bit;
  }

  std::uint64_t position() const { return position_; }

  /// Afterwards at least 32 bits are available.
  void refill() {
    if (available_ > 32) return;
    if (end_ - next_ >= 4) {
      std::uint32_t word;
      std::memcpy(&word, next_, sizeof word);
      if constexpr (std::endian::native == std::endian::little) word = __builtin_bswap32(word);
      window_ |= std::uint64_t{word} << (32 - available_);
      next_ += 4;
      available_ += 32;
    } else {
      while (available_ <= 56) {
        const std::uint64_t byte = next_ < end_ ? *next_++ : 0;
        window_ |= byte << (56 - available_);
        available_ += 8;
      }
    }
  }

  /// The next `bits` bits (1..32).
  std::uint32_t peek(int bits) const { return static_cast<std::uint32_t>(window_ >> (64 - bits)); }
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
  const std::uint8_t* next_;
  const std::uint8_t* end_;
  std::uint64_t window_ = 0;  // next bit is the highest
  int available_ = 0;
  std::uint64_t position_;
};

}  // namespace zerorun
