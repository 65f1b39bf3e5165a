// Deringing of clipped blocks: where samples of a block are at an end of their range, the encoder
// moves them beyond it. A decoder limits its samples, so the ringing of a coarse quantiser at the
// edges of text, which swings back into the range, stays outside. The effect is that of mozjpeg's
// overshoot (K. Lesinski, 2014), which draws a curve through each run of clipped samples; on text
// one distance for all of them saves as much and needs no walk over the block.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "codec/arith/host_device.hpp"

namespace zerorun {

/// The furthest that a sample is moved. With it no 16-bit form of the transform leaves its range.
inline constexpr std::uint32_t kMostOvershoot = 31;

/// How far samples are moved at most, by the smallest entry of the quantisation table. Bytes saved
/// at equal SSIMULACRA2 by 2, 3 and 4 steps: 13.9, 14.8 and 14.9 % in 4:2:0, and 9.7, 10.0 and
/// 9.9 % in 4:4:4 (six pictures of text and drawings, `--tune text --effort best`).
///
/// A sample is then at most 128 + min(3 q, 31) from zero and no divisor is below q, so that
/// coefficients are limited in the same places as without overshoot (may_exceed_limit() of
/// cuda/encode/packed_fdct.hpp): for any other frequency, 8 * 131 * 2.83 * 2.62 < 7800 with q = 1.
ZR_HD std::uint32_t most_overshoot(std::uint32_t least_step) {
  return 3 * least_step < kMostOvershoot ? 3 * least_step : kMostOvershoot;
}

/// The 64 samples of a block: their sum, and how many are 255 and 0.
struct ClippedSamples {
  std::uint32_t sum, white, black;
};

/// How far a block's samples of 255 and of 0 are moved.
struct Overshoot {
  std::uint32_t above, below;

  ZR_HD bool any() const { return (above | below) != 0; }
  /// `sample`: 0..255
  ZR_HD std::int32_t apply(std::uint32_t sample) const {
    const auto value = static_cast<std::int32_t>(sample);
    return sample == 255 ? value + static_cast<std::int32_t>(above)
           : sample == 0 ? value - static_cast<std::int32_t>(below)
                         : value;
  }
  /// The sum of a block's samples, each of them moved: 0..64 * 255.
  ZR_HD std::uint32_t sum_of(const ClippedSamples& block) const {
    return block.sum + block.white * above - block.black * below;
  }
};

/// The mean of the block stays in the range: the range of DC is that of the samples, and a block
/// that is almost flat gets no contrast that it did not have.
ZR_HD Overshoot overshoot_of(const ClippedSamples& block, std::uint32_t most) {
  const auto up_to_most = [most](std::uint32_t room, std::uint32_t count) {
    if (count == 0) return std::uint32_t{0};
    const std::uint32_t each = room / count;
    return each < most ? each : most;
  };
  return {up_to_most(64 * 255 - block.sum, block.white), up_to_most(block.sum, block.black)};
}

}  // namespace zerorun
