// A small seeded generator with the same numbers on every platform (std distributions differ).
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace zerorun::test {

/// SplitMix64 (Steele, Lea, Flood 2014); every seed is good.
class Random {
 public:
  explicit Random(std::uint64_t seed) noexcept : state_(seed) {}

  std::uint64_t next() noexcept {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }

  /// 0 .. bound-1; the bias of the modulus does not matter for pictures.
  int below(int bound) noexcept {
    return static_cast<int>(next() % static_cast<std::uint64_t>(bound));
  }

  /// first .. last, both included.
  int between(int first, int last) noexcept { return first + below(last - first + 1); }

  std::uint8_t byte() noexcept { return static_cast<std::uint8_t>(next() >> 56); }

 private:
  std::uint64_t state_;
};

}  // namespace zerorun::test
