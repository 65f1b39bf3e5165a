// DC prediction (T.81 F.2.1.3.1) of consecutive blocks, one a thread: a segmented scan over all
// blocks of the scan, in which CTAs look back at those before them.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "cuda/base/look_back.cuh"

namespace zerorun {

/// DC sums of three components, 20 bits each. A sum between two blocks is the difference of their
/// DC values, which are checked to have 16 bits.
inline constexpr int kDcSumBits = 20;
inline constexpr std::uint64_t kDcSumsMask = (std::uint64_t{1} << 3 * kDcSumBits) - 1;

/// The largest difference between DC values of baseline streams is 2047. Sums of a few differences
/// up to this bound cannot overflow unnoticed.
inline constexpr std::int32_t kMostDcDifference = 4095;

__device__ inline std::uint64_t pack_dc(std::int32_t difference, std::uint32_t component) {
  return static_cast<std::uint64_t>(std::int64_t{difference}) << component * kDcSumBits &
         kDcSumsMask;
}
/// Field `component` of a sum of signed fields. A lower field may have borrowed from it, so half of
/// what a field can hold is added to each to make none negative.
__device__ inline std::int32_t unpack_dc(std::uint64_t sums, std::uint32_t component) {
  constexpr std::uint32_t kHalf = 1u << (kDcSumBits - 1);
  constexpr std::uint64_t kHalves =
      kHalf * (1 + (std::uint64_t{1} << kDcSumBits) + (std::uint64_t{1} << 2 * kDcSumBits));
  const auto field = static_cast<std::uint32_t>((sums + kHalves) >> component * kDcSumBits);
  return static_cast<std::int32_t>(field % (2 * kHalf) - kHalf);
}

/// The DC sum of a thread's block, as far as the CTA knows it.
struct DcSums {
  std::uint64_t up_to_block;
  bool open;  ///< the interval began before the CTA
};

/// For a CTA with `kWarps` warps; in shared memory.
template <int kWarps>
class DcPrediction {
 public:
  /// Sums within the CTA, and publishes what later CTAs need as early as possible. `head`: an
  /// interval begins with the thread's block.
  __device__ DcSums sum_within(std::uint64_t* states, std::int32_t difference,
                               std::uint32_t component, bool head) {
    const std::uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    std::uint64_t sums = pack_dc(difference, component);
    const std::uint32_t heads = __ballot_sync(kFullWarp, head);
    const std::uint32_t heads_so_far = heads & (0xFFFFFFFFu >> (31 - lane));
    const std::uint32_t first = heads_so_far != 0 ? 31 - __clz(static_cast<int>(heads_so_far)) : 0;
    const std::uint32_t before = lane - first;  // lanes with blocks of the same interval
    for (std::uint32_t step = 1; step < 32; step *= 2) {
      const std::uint64_t left = __shfl_up_sync(kFullWarp, sums, step);
      if (before >= step) sums += left;
    }
    if (lane == 31) {
      warp_sums_[warp] = sums;
      warp_has_head_[warp] = heads != 0;
    }
    __syncthreads();
    bool open = heads_so_far == 0;  // its interval began in an earlier warp
    for (int w = static_cast<int>(warp) - 1; w >= 0 && open; --w) {
      sums += warp_sums_[w];
      open = !warp_has_head_[w];
    }
    if (threadIdx.x == 0) publish(states, !head);
    return {sums, open};
  }

  /// Adds the sum before the CTA; returns the DC, which is right if it has 16 bits.
  __device__ std::int32_t finish(std::uint64_t* states, const DcSums& own,
                                 std::uint32_t component) {
    if (threadIdx.x < 32) {
      __syncwarp();  // thread 0 wrote goes_on_
      const std::uint64_t before = goes_on_ ? look_back(states) : 0;
      if (threadIdx.x == 0) {
        if (!any_head_)
          store_relaxed(states + blockIdx.x, kTileInclusive | ((before + all_) & kDcSumsMask));
        before_ = before;
      }
    }
    __syncthreads();
    return unpack_dc(own.open ? own.up_to_block + before_ : own.up_to_block, component);
  }

 private:
  /// A sum that starts at an interval's beginning is inclusive: no later CTA needs to look further
  /// back.
  __device__ void publish(std::uint64_t* states, bool goes_on) {
    std::uint64_t all = 0;
    bool any_head = false;
    for (int w = kWarps - 1; w >= 0 && !any_head; --w) {
      all += warp_sums_[w];
      any_head = warp_has_head_[w];
    }
    all &= kDcSumsMask;
    store_relaxed(states + blockIdx.x, (any_head ? kTileInclusive : kTileAggregate) | all);
    all_ = all;
    any_head_ = any_head;
    goes_on_ = goes_on;
  }

  /// The sums of the open interval at the end of the CTA before; called by one warp.
  __device__ static std::uint64_t look_back(const std::uint64_t* states) {
    std::uint64_t own = 0;
    walk_back<4>(states, blockIdx.x, [&](std::uint64_t state, bool counts) {
      if (counts) own += state & kDcSumsMask;
      return false;
    });
    return warp_sum(own) & kDcSumsMask;
  }

  std::uint64_t warp_sums_[kWarps], all_, before_;
  bool warp_has_head_[kWarps], any_head_, goes_on_;
};

}  // namespace zerorun
