// YCbCr of any range, matrix and depth -> full range BT.601 with 8 bits, one sample at a time.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "codec/arith/host_device.hpp"
#include "zerorun/frame.hpp"

namespace zerorun {

/// The term's value at a sample of up to 16 bits, in 16.16 fixed point. No sum exceeds 32 bits.
ZR_HD constexpr std::int32_t term_of(const SampleTerm& term, std::uint32_t sample) {
  const std::uint32_t carry2 = (term.slope2 * sample + term.offset2) >> 16;
  const std::uint32_t carry1 = (term.slope1 * sample + term.offset1 + carry2) >> 16;
  return term.slope * static_cast<std::int32_t>(sample) + term.offset +
         static_cast<std::int32_t>(carry1);
}

/// A sum in 16.16 fixed point to the nearest sample.
ZR_HD constexpr std::uint8_t sample_of(std::int32_t sum) {
  const std::int32_t rounded = (sum + (1 << 15)) >> 16;
  return static_cast<std::uint8_t>(rounded < 0 ? 0 : rounded > 255 ? 255 : rounded);
}

}  // namespace zerorun
