// How a walk over a subsequence stores its pairs. Host code too, so that a test can run the
// algorithm without a device.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <cstring>

#include "cuda/decode/subsequence_walk.hpp"

namespace zerorun {

/// Two words as one number, shifted right by `bits`; more than 32 are as 32.
ZR_HD std::uint32_t shift_right(std::uint32_t low, std::uint32_t high, std::uint32_t bits) {
#ifdef __CUDA_ARCH__
  return __funnelshift_rc(low, high, bits);
#else
  return static_cast<std::uint32_t>((std::uint64_t{high} << 32 | low) >> (bits < 32 ? bits : 32));
#endif
}
/// The low halves of two words.
ZR_HD std::uint32_t low_halves(std::uint32_t first, std::uint32_t second) {
#ifdef __CUDA_ARCH__
  return __byte_perm(first, second, 0x5410);
#else
  return (first & 0xFFFF) | second << 16;
#endif
}

/// Eight pairs, the last one highest.
struct EightPairs {
  std::uint32_t words[4];

  /// The last eight after `bits` / 16 more, of which `coming` has two, the first one lower. More
  /// than 32 bits are as 32.
  ZR_HD EightPairs behind(std::uint32_t coming, std::uint32_t bits) const {
    return {{shift_right(words[0], words[1], bits), shift_right(words[1], words[2], bits),
             shift_right(words[2], words[3], bits), shift_right(words[3], coming, bits)}};
  }
  ZR_HD std::uint16_t pair(std::uint32_t i) const {
    return static_cast<std::uint16_t>(words[i / 2] >> i % 2 * 16);
  }
};

/// Stores eight pairs to a multiple of 16 bytes in global memory. The compiler would make it four
/// stores.
ZR_HD void store_eight(std::uint16_t* to, const std::uint32_t (&eight)[4]) {
#ifdef __CUDA_ARCH__
  asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(eight[0]), "r"(eight[1]),
               "r"(eight[2]), "r"(eight[3])
               : "memory");
#else
  std::memcpy(to, eight, sizeof eight);
#endif
}

/// Stores eight pairs at once. If 32 threads each store single pairs at distant places, the memory
/// pipe is so busy that look-ups wait.
struct PairSink {
  static constexpr std::uint32_t kBlockUnits = 1;

  std::uint16_t* pairs;
  std::int16_t* wide;  ///< the level of each pair that has no room for it
  std::uint32_t* block_pair;
  std::uint32_t begin;  ///< number of the walk's first pair
  EightPairs last = {};

  ZR_HD PairTarget place(const PairTarget& target) const { return target; }
  ZR_HD void block_starts_if(bool condition, std::uint32_t block, std::uint32_t pair) const {
    if (condition) block_pair[block] = pair;
  }
  /// Stores the pairs of a step, with a branch where eight are complete.
  ZR_HD std::uint32_t put(std::uint32_t number, const WalkPair& first, const WalkPair& second) {
    std::uint32_t pair = pair_word(first.index, first.level);
    if (first.exists && is_wide(first.level)) {
      wide[number] = static_cast<std::int16_t>(first.level);
      pair = pair_word(first.index, kWideLevel);
    }
    const std::uint32_t behind = pair_word(second.index, second.level);
    const std::uint32_t coming = first.exists ? low_halves(pair, behind) : behind;
    std::uint32_t bits = first.exists ? 16 : 0;
    if (second.exists) bits += 16;
    const std::uint32_t next = number + bits / 16;
    if (((number ^ next) & 8) != 0) store_last(number, coming);
    last = last.behind(coming, bits);
    return next;
  }
  /// Stores what is left of the last eight.
  ZR_HD void finish(std::uint32_t end) {
    const std::uint32_t left = end % 8, dropped = 8 - left;
    if (left == 0) return;
    std::uint32_t(&words)[4] = last.words;
    // The first one becomes the lowest.
    if ((dropped & 4) != 0) words[0] = words[2], words[1] = words[3];
    if ((dropped & 2) != 0) words[0] = words[1], words[1] = words[2], words[2] = words[3];
    if ((dropped & 1) != 0) last = last.behind(0, 16);
    store_own(end - left, end, last);
  }

 private:
  /// Stores the last eight pairs up to a multiple of eight, which is in `coming` or behind it.
  ZR_HD void store_last(std::uint32_t number, std::uint32_t coming) const {
    const std::uint32_t at = number & ~7u, left = at + 8 - number;
    const EightPairs eight = last.behind(coming, 16 * left);
    if (at < begin)
      store_own(at, at + 8, eight);
    else
      store_eight(pairs + at, eight.words);
  }
  /// Of eight pairs, stores those before `end` that are the walk's own: others store the rest.
  ZR_HD void store_own(std::uint32_t number, std::uint32_t end, const EightPairs& eight) const {
    for (std::uint32_t i = 0; i < 8; ++i)
      if (number + i >= begin && number + i < end) pairs[number + i] = eight.pair(i);
  }
};

}  // namespace zerorun
