// Writes bits to memory: codewords, and those of the parts of a restart interval. CPU only.
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

/// Where bits are being written. A local copy stays in registers.
struct BitState {
  std::uint8_t* out;
  std::uint64_t pending = 0;  ///< 64 - free bits that are not yet stored, in the low bits
  int free = 64;              ///< 1..64

  /// Appends the lower `length` bits, 1..54 of them. `store` puts words behind `out`.
  template <typename Store>
  [[gnu::always_inline]] void put(std::uint64_t bits, int length, const Store& store) {
    free -= length;
    if (__builtin_expect(free > 0, 1)) {
      pending = pending << length | bits;
      return;
    }
    // The word lacks room for -free bits. free is -53..0 here, so at least one bit is stored.
    out = store(pending << (length + free) | bits >> -free, out);
    pending = bits;  // its bits above the last -free ones are shifted out before they are stored
    free += 64;
  }
  [[gnu::always_inline]] void put(std::uint64_t bits, int length) {
    put(bits, length, [](std::uint64_t word, std::uint8_t* to) {
      store_big_endian(word, to);
      return to + sizeof word;
    });
  }
  /// Appends bits `first` to `end` - 1 of a string, which may be read up to 8 bytes behind its end.
  /// Fewer than 8 bits are pending.
  void append(const std::uint8_t* in, std::uint64_t first, std::uint64_t end) {
    BitState state = *this;
    const int held = 64 - free;
    for (std::uint64_t word; first < end; first += 56, state.out += 7) {
      std::memcpy(&word, in + first / 8, sizeof word);
      const std::uint64_t next = big_endian(word) << first % 8 >> 8;
      if (first + 56 > end) {
        const auto rest = static_cast<int>(end - first);
        state.put(next >> (56 - rest), rest);
        break;
      }
      store_big_endian((state.pending << 56 | next) << (8 - held), state.out);
      state.pending = next & ((std::uint64_t{1} << held) - 1);
    }
    *this = state;
  }
  std::uint64_t bits_since(const std::uint8_t* begin) const {
    return static_cast<std::uint64_t>(out - begin) * 8 + static_cast<std::uint64_t>(64 - free);
  }
  /// Stores what is pending, filled up with `filling` (0 or all ones); the next bits start on a
  /// byte.
  void flush(std::uint64_t filling) {
    if (free < 64) {
      store_big_endian(pending << free | (filling & ((std::uint64_t{1} << free) - 1)), out);
      out += (64 - free + 7) / 8;
    }
    pending = 0;
    free = 64;
  }
};

}  // namespace zerorun
