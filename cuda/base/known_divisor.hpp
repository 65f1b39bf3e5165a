// Division by a number that is known before a kernel starts.
// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cstdint>

#include "codec/arith/host_device.hpp"

namespace zerorun {

/// Divides numbers below 2^31 by `value` with a multiplication (Granlund and Montgomery, PLDI
/// 1994): n / d is n * multiplier / 2^(32 + shift), rounded down.
struct KnownDivisor {
  std::uint32_t value = 1, multiplier = 0;
  int shift = 0;

  KnownDivisor() = default;
  explicit constexpr KnownDivisor(std::uint32_t d) : value(d) {
    if (d == 1) return;
    const auto bits = static_cast<int>(std::bit_width(d - 1));
    multiplier = static_cast<std::uint32_t>((std::uint64_t{1} << (31 + bits)) / d + 1);
    shift = bits - 1;
  }
  ZR_HD std::uint32_t quotient(std::uint32_t n) const {
    const auto high = static_cast<std::uint32_t>(std::uint64_t{n} * multiplier >> 32);
    return value == 1 ? n : high >> shift;
  }
};

}  // namespace zerorun
