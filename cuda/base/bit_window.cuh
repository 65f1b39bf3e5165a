// Reads codewords from clean bytes in device memory, 64 bits ahead; the twin of the CPU's
// BitReader.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "codec/arith/host_device.hpp"

namespace zerorun {

/// Bits beyond the end of the bytes read as 0; the caller compares position() with its limit.
/// `bytes` is 4-byte aligned. Host code may use it too: tests run the kernels' algorithms there.
class BitWindow {
 public:
  ZR_HD BitWindow(const std::uint8_t* bytes, std::uint64_t byte_count, std::uint64_t bit)
      : bytes_(bytes), byte_count_(byte_count), next_(bit / 32 * 4), position_(bit) {
    window_ = std::uint64_t{load()} << 32;
    available_ = 32;
    const int skip = static_cast<int>(bit % 32);
    window_ <<= skip;
    available_ -= skip;
    refill();
  }

  ZR_HD std::uint64_t position() const { return position_; }

  /// Afterwards at least 32 bits are available.
  ZR_HD void refill() {
    if (available_ > 32) return;
    window_ |= std::uint64_t{load()} << (32 - available_);
    available_ += 32;
  }

  ZR_HD std::uint32_t peek16() const { return static_cast<std::uint32_t>(window_ >> 48); }

  /// The next `bits` bits (0..16), which are consumed.
  ZR_HD std::uint32_t take(int bits) {
    const auto value = static_cast<std::uint32_t>((window_ >> 1) >> (63 - bits));
    drop(bits);
    return value;
  }

  ZR_HD void drop(int bits) {
    window_ <<= bits;
    available_ -= bits;
    position_ += static_cast<std::uint64_t>(bits);
  }

 private:
  /// The next four bytes, the first one highest.
  ZR_HD std::uint32_t load() {
    std::uint32_t word = 0;
    if (next_ + 4 <= byte_count_) {
      word = *reinterpret_cast<const std::uint32_t*>(bytes_ + next_);
#ifdef __CUDA_ARCH__
      word = __byte_perm(word, 0, 0x0123);
#else
      word = __builtin_bswap32(word);
#endif
    } else {
      for (std::uint64_t i = 0; i < 4 && next_ + i < byte_count_; ++i)
        word |= std::uint32_t{bytes_[next_ + i]} << (24 - 8 * i);
    }
    next_ += 4;
    return word;
  }

  const std::uint8_t* bytes_;
  std::uint64_t byte_count_;
  std::uint64_t next_;        // byte of the next word
  std::uint64_t window_ = 0;  // next bit is the highest
  int available_ = 0;
  std::uint64_t position_;
};

}  // namespace zerorun
