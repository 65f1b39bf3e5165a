// DC prediction (T.81 F.2.1.3.1) of consecutive blocks, one a thread: a segmented scan over all
// blocks of the scan, in which CTAs look back at those before them. One warp does it for its CTA.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "cuda/base/look_back.cuh"

namespace zerorun {

/// The largest difference between DC values of baseline streams is 2047.
inline constexpr std::int32_t kMostDcDifference = 4095;

/// Sums of DC differences of three components. Those of the first two share a word, so that a sum
/// of the first that is negative borrows from the second; but all DCs are checked to have 16 bits.
/// The words are summed up apart: two sums of 32 bits take fewer instructions than one of 64 where
/// some lanes add.
struct DcSum {
  std::uint32_t low;   ///< of component 0, and of component 1 from bit 16 on
  std::uint32_t high;  ///< of component 2; its highest two bits mean nothing

  /// `shift`: where the sum of the component is.
  __device__ static DcSum of(std::int32_t difference, std::uint32_t shift) {
    const auto bits = static_cast<std::uint32_t>(difference);
    return {shift < 32 ? bits << shift : 0, shift < 32 ? 0 : bits};
  }
  __device__ static DcSum of(std::uint64_t state) {
    return {static_cast<std::uint32_t>(state), static_cast<std::uint32_t>(state >> 32)};
  }
  __device__ std::uint64_t state(std::uint64_t status) const {
    return status | ((std::uint64_t{high} << 32 | low) & kTileSumMask);
  }
  /// The sum of a component in the lowest 16 bits, if that of component 0 has so many. Half of what
  /// they can hold makes up for what it borrowed from component 1.
  __device__ std::uint32_t at(std::uint32_t shift) const {
    const std::uint32_t repaid = low + (shift << 11);
    return static_cast<std::uint32_t>((std::uint64_t{high} << 32 | repaid) >> shift);
  }
  __device__ void operator+=(const DcSum& other) {
    low += other.low;
    high += other.high;
  }
  /// Adds `from` of the lane `distance` before, unless that would be a lane before `first`. The
  /// shuffle itself tells so. Called by all lanes of a warp.
  __device__ void add_of_lane_before(const DcSum& from, std::uint32_t distance,
                                     std::uint32_t first) {
    asm volatile(
        "{\n\t"
        ".reg .u32 other_low, other_high;\n\t"
        ".reg .pred is_there;\n\t"
        "shfl.sync.up.b32 other_low|is_there, %2, %4, %5, 0xFFFFFFFF;\n\t"
        "shfl.sync.up.b32 other_high, %3, %4, %5, 0xFFFFFFFF;\n\t"
        "@is_there add.u32 %0, %0, other_low;\n\t"
        "@is_there add.u32 %1, %1, other_high;\n\t"
        "}"
        : "+r"(low), "+r"(high)
        : "r"(from.low), "r"(from.high), "r"(distance), "r"(first));
  }
};

/// The DC sums of two blocks, which follow each other, as far as the CTA knows them.
struct TwoDcSums {
  DcSum up_to_first, up_to_second;
  std::uint32_t first_shift, second_shift;  ///< of their components
  bool first_open, second_open;             ///< the interval began before the CTA
  bool goes_on;                             ///< so did that of the CTA's first block
};

/// For a CTA with two blocks for each lane of a warp; in shared memory. All threads put() their
/// block; behind a barrier one warp calls sum_up(), and later finish(); behind another barrier each
/// thread has its block's dc().
class DcPrediction {
 public:
  static constexpr int kBlocks = 2 * 32;

  /// `head`: an interval begins with the thread's block. `difference` has 16 bits.
  __device__ void put(std::int32_t difference, std::uint32_t component, bool head) {
    block_[threadIdx.x] = static_cast<std::uint32_t>(difference) << kDifferenceShift |
                          (head ? kHead : 0) | component * 16;
  }

  /// Sums within the CTA, and publishes what later CTAs need as early as possible: a sum that
  /// starts at an interval's beginning is inclusive, as no CTA needs to look further back.
  __device__ TwoDcSums sum_up(std::uint64_t* states) const {
    const std::uint32_t lane = threadIdx.x % 32;
    const uint2 two = *reinterpret_cast<const uint2*>(block_ + 2 * lane);
    const bool first_head = (two.x & kHead) != 0, second_head = (two.y & kHead) != 0;
    const std::uint32_t heads = __ballot_sync(kFullWarp, ((two.x | two.y) & kHead) != 0);
    const std::uint32_t heads_so_far = heads & (0xFFFFFFFFu >> (31 - lane));
    TwoDcSums sums;
    sums.first_shift = two.x & kShiftMask;
    sums.second_shift = two.y & kShiftMask;
    sums.first_open = (heads_so_far & ~(1u << lane)) == 0 && !first_head;
    sums.second_open = heads_so_far == 0;
    sums.goes_on = (__ballot_sync(kFullWarp, first_head) & 1) == 0;
    sums.up_to_first = DcSum::of(difference_of(two.x), sums.first_shift);
    sums.up_to_second = DcSum::of(difference_of(two.y), sums.second_shift);
    if (!second_head) sums.up_to_second += sums.up_to_first;
    // The last lane so far whose blocks have a head, or the first lane.
    const std::uint32_t begin = 31 - __clz(static_cast<int>(heads_so_far | 1));
#pragma unroll
    for (std::uint32_t distance = 1; distance < 32; distance *= 2)
      sums.up_to_second.add_of_lane_before(sums.up_to_second, distance, begin);
    sums.up_to_first.add_of_lane_before(sums.up_to_second, 1, first_head ? lane : 0);
    if (lane == 31)
      store_relaxed(states + blockIdx.x,
                    sums.up_to_second.state(heads != 0 ? kTileInclusive : kTileAggregate));
    return sums;
  }

  /// Adds the sum before the CTA.
  __device__ void finish(std::uint64_t* states, TwoDcSums sums) {
    const std::uint32_t lane = threadIdx.x % 32;
    if (sums.goes_on) {
      const DcSum before = look_back(states);
      if (sums.first_open) sums.up_to_first += before;
      if (sums.second_open) sums.up_to_second += before;
      if (lane == 31 && sums.second_open)  // no interval begins in the CTA
        store_relaxed(states + blockIdx.x, sums.up_to_second.state(kTileInclusive));
    }
    *reinterpret_cast<uint2*>(block_ + 2 * lane) =
        uint2{sums.up_to_first.at(sums.first_shift), sums.up_to_second.at(sums.second_shift)};
  }

  /// The lowest 16 bits of the DC of the thread's block.
  __device__ std::int16_t dc() const { return static_cast<std::int16_t>(block_[threadIdx.x]); }

 private:
  static constexpr int kDifferenceShift = 16;
  static constexpr std::uint32_t kShiftMask = 63, kHead = 64;

  __device__ static std::int32_t difference_of(std::uint32_t block) {
    return static_cast<std::int32_t>(block) >> kDifferenceShift;
  }

  /// The sums of the open interval at the end of the CTA before; called by one warp.
  __device__ static DcSum look_back(const std::uint64_t* states) {
    DcSum own{};
    walk_back<4>(states, blockIdx.x, [&](std::uint64_t state, bool counts) {
      if (counts) own += DcSum::of(state);
      return false;
    });
    return {warp_add(own.low), warp_add(own.high)};
  }

  alignas(8) std::uint32_t block_[kBlocks];  ///< what is put() of each, and then its DC
};

}  // namespace zerorun
