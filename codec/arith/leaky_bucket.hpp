// The budgets of frames by a leaky bucket, in integers.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>

namespace zerorun {

/// Bytes that leak between two frames: rate * den / (8 * num), the remainder kept for later.
struct BucketLeak {
  /// Larger shares count as this one, so that sums with it fit 63 bits.
  static constexpr unsigned __int128 kMost = std::int64_t{1} << 60;

  std::int64_t rate, num, den;
  std::int64_t remainder = 0;

  std::int64_t next() {
    const auto eights = static_cast<unsigned __int128>(8) * static_cast<std::uint64_t>(num);
    const auto bits = static_cast<unsigned __int128>(rate) * static_cast<std::uint64_t>(den) +
                      static_cast<std::uint64_t>(remainder);
    remainder = static_cast<std::int64_t>(bits % eights);
    return static_cast<std::int64_t>(std::min(bits / eights, kMost));
  }
};

/// How full the bucket is after a frame of `bytes`, when `leaked` bytes have left it.
inline std::int64_t level_after(std::int64_t level, std::int64_t bytes, std::int64_t leaked) {
  return std::max<std::int64_t>(0, level + bytes - leaked);
}

/// What a frame may take when the bucket has `level` bytes: `leaked` and an eighth of what is
/// missing to half a bucket, at least half of `leaked` and 1 byte, and at most what is free. Only
/// frames that took more than their budgets bring the bucket above half.
inline std::int64_t frame_budget(std::int64_t bucket, std::int64_t level, std::int64_t leaked) {
  const std::int64_t wanted = leaked + (bucket / 2 - level) / 8;
  const std::int64_t free = std::max<std::int64_t>(1, bucket - level);
  return std::clamp<std::int64_t>(wanted, std::clamp<std::int64_t>(leaked / 2, 1, free), free);
}

}  // namespace zerorun
