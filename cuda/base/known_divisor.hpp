// Division by a number that is known before a kernel starts.
// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cstdint>

#include "codec/arith/host_device.hpp"

namespace zerorun {

/// Divides numbers below 2^31 by `value` with a multiplication (Robison, ARITH 2005): n / d is
/// (n + 1) * multiplier / 2^(32 + shift), rounded down. The multiplier is 2^(32 + shift) / d less
/// what makes it the next smaller integer, at most 1: the product falls short of (n + 1) / d, but
/// by no more than 1 / d, since 2^shift is at least half of d. So 1 is a divisor like any other.
struct KnownDivisor {
  std::uint32_t value = 1, multiplier = 0xFFFFFFFF;
  int shift = 0;

  KnownDivisor() = default;
  explicit constexpr KnownDivisor(std::uint32_t d)
      : value(d), shift(d == 1 ? 0 : static_cast<int>(std::bit_width(d - 1)) - 1) {
    multiplier = static_cast<std::uint32_t>(((std::uint64_t{1} << (32 + shift)) - 1) / d);
  }
  ZR_HD std::uint32_t quotient(std::uint32_t n) const {
    return static_cast<std::uint32_t>(std::uint64_t{n + 1} * multiplier >> 32) >> shift;
  }
};

}  // namespace zerorun
