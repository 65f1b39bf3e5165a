// Joins the bits of the parts of a restart interval. CPU only.
// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace zerorun {

inline std::uint64_t big_endian(std::uint64_t x) {
  return std::endian::native == std::endian::little ? __builtin_bswap64(x) : x;
}
inline void store_big_endian(std::uint64_t word, std::uint8_t* out) {
  word = big_endian(word);
  std::memcpy(out, &word, sizeof word);
}

/// The last `count` (1..7) of `bits` bits, as the highest of a byte; there are at least 8.
inline std::uint8_t last_bits(const std::uint8_t* bytes, std::uint64_t bits, std::uint64_t count) {
  const std::uint64_t first = bits - count;
  const auto two = static_cast<std::uint32_t>(bytes[first / 8] << 8 | bytes[first / 8 + 1]);
  return static_cast<std::uint8_t>((two << first % 8 >> 8) & (0xFF00u >> count));
}

/// Appends bit strings, each of which starts on a byte and may end inside one; the bits behind its
/// end do not matter.
class BitJoiner {
 public:
  /// `out` has room for 8 bytes more than the bits take.
  explicit BitJoiner(std::uint8_t* out) : out_(out) {}

  /// `in` may be read up to 8 bytes behind its end.
  void append(const std::uint8_t* in, std::uint64_t bits) {
    const int used = static_cast<int>(bits_ % 8);  // bits of the byte at hand
    std::uint8_t* out = out_ + bits_ / 8;
    bits_ += bits;
    if (used == 0) {
      std::memcpy(out, in, (bits + 7) / 8);
      return;
    }
    // 56 bits a step, behind those of the byte at hand.
    std::uint64_t held = std::uint64_t{*out} >> (8 - used);
    for (std::uint64_t done = 0; done < bits; done += 56, in += 7, out += 7) {
      std::uint64_t next;
      std::memcpy(&next, in, sizeof next);
      next = big_endian(next) >> 8;
      store_big_endian((held << 56 | next) << (8 - used), out);
      held = next & ((std::uint64_t{1} << used) - 1);
    }
  }

  /// Fills the last byte with 1-bits; returns the number of bytes.
  std::uint64_t finish() {
    const int used = static_cast<int>(bits_ % 8);
    if (used != 0) out_[bits_ / 8] |= static_cast<std::uint8_t>(0xFF >> used);
    return (bits_ + 7) / 8;
  }

 private:
  std::uint8_t* out_;
  std::uint64_t bits_ = 0;
};

}  // namespace zerorun
