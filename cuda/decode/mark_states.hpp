// The states of the walks of the exhaustive strategy. Where blocks are dense, 20 to 90 walks over a
// chunk go on side by side, so their states are kept only at the marks, every kMarkSubsequences
// subsequences. Each walk goes on until it reaches a mark in a state that another walk had there
// before it. Host code too, so that a test can run the algorithm without a device.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "cuda/decode/subsequence_walk.hpp"

namespace zerorun {

/// A mark is at every so many subsequences.
inline constexpr std::uint32_t kMarkSubsequences = 4;
/// Subsequences in which a block begins, wherever they are: the longest has 27 bits of a DC and 26
/// for each AC coefficient.
inline constexpr std::uint32_t kSeedSubsequences = 6;
static_assert(kSeedSubsequences * kSubsequenceBits >= 16 + 11 + 63 * (16 + 10));
/// How many subsequences before each seed place but the first its walks begin, and in how many.
inline constexpr std::uint32_t kLateSeedDistance = 8, kLateSeedSubsequences = 2;
/// Stands for the slot of a state that is not kept.
inline constexpr std::uint32_t kNoSlot = 255;
/// In place of a state: the slot is free. No walk has it.
inline constexpr std::uint16_t kFreeSlot = 0xFFFF;

/// The states of the walks at `kMarks` marks, each with a hash table of `slots` states (a power of
/// two), and from which state of a mark a walk reaches which of the next.
template <std::uint32_t kMarks>
struct MarkStates {
  std::uint16_t* states;  ///< [kMarks][slots]
  std::uint8_t* nexts;    ///< [kMarks][slots]
  std::uint32_t slots;

  static constexpr std::uint32_t bytes(std::uint32_t slots) { return kMarks * slots * 3; }
  static ZR_HD MarkStates at(std::uint16_t* memory, std::uint32_t slots) {
    return {memory, reinterpret_cast<std::uint8_t*>(memory + kMarks * slots), slots};
  }

  ZR_HD std::uint16_t& state(std::uint32_t mark, std::uint32_t slot) const {
    return states[mark * slots + slot];
  }
  ZR_HD std::uint8_t& next(std::uint32_t mark, std::uint32_t slot) const {
    return nexts[mark * slots + slot];
  }

  /// Keeps a state that a walk reached, or finds it. `is_new`: no walk was there before. Returns
  /// kNoSlot if there is no room. Several threads may call it.
  ZR_HD std::uint32_t insert(std::uint32_t mark, std::uint32_t reached, bool& is_new) const {
    std::uint32_t slot = home_of(reached);
    for (std::uint32_t probe = 0; probe < slots; ++probe, slot = (slot + 1) & (slots - 1)) {
      const std::uint32_t old = take_if_free(state(mark, slot), reached);
      is_new = old == kFreeSlot;
      if (is_new || old == reached) return slot;
    }
    is_new = false;
    return kNoSlot;
  }

  /// Where a state is kept, or kNoSlot.
  ZR_HD std::uint32_t find(std::uint32_t mark, std::uint32_t reached) const {
    std::uint32_t slot = home_of(reached);
    for (std::uint32_t probe = 0; probe < slots; ++probe, slot = (slot + 1) & (slots - 1)) {
      if (state(mark, slot) == reached) return slot;
      if (state(mark, slot) == kFreeSlot) break;
    }
    return kNoSlot;
  }

  /// From a slot of mark `from` to that of mark `to`.
  ZR_HD std::uint32_t follow(std::uint32_t from, std::uint32_t to, std::uint32_t slot) const {
    for (std::uint32_t mark = from; mark < to && slot != kNoSlot; ++mark) slot = next(mark, slot);
    return slot;
  }

 private:
  /// Walks that pass the same bits differ in one part of their states, so all parts count.
  ZR_HD std::uint32_t home_of(std::uint32_t reached) const {
    return (reached * 40503u >> 7) & (slots - 1);
  }
  static ZR_HD std::uint32_t take_if_free(std::uint16_t& slot, std::uint32_t reached) {
#ifdef __CUDA_ARCH__
    return atomicCAS(&slot, kFreeSlot, static_cast<std::uint16_t>(reached));
#else
    const std::uint16_t old = slot;
    if (old == kFreeSlot) slot = static_cast<std::uint16_t>(reached);
    return old;
#endif
  }
};

/// Lists of states, each state once, in memory of bytes(). Between two barriers there is one list
/// that walks go on from and one of the states that they reach.
struct DistinctStates {
  static constexpr std::uint32_t kWords = (1u << 16) / 32;
  static constexpr std::uint32_t kMost = 1792;  ///< of a list: 6 ends have memory for two

  std::uint32_t* bits;   ///< [kWords]: one for each state, set if that was reached
  std::uint16_t* lists;  ///< [2][kMost]

  static constexpr std::uint32_t bytes() { return kWords * 4 + 2 * kMost * 2; }
  static ZR_HD DistinctStates at(std::uint16_t* memory) {
    return {reinterpret_cast<std::uint32_t*>(memory), memory + 2 * kWords};
  }

  ZR_HD std::uint16_t* list(std::uint32_t number) const { return lists + number % 2 * kMost; }

  /// Whether the state was reached for the first time. Several threads may call it.
  ZR_HD bool add(std::uint32_t state) const {
    const std::uint32_t bit = 1u << state % 32;
#ifdef __CUDA_ARCH__
    return (atomicOr(&bits[state / 32], bit) & bit) == 0;
#else
    const std::uint32_t before = bits[state / 32];
    bits[state / 32] |= bit;
    return (before & bit) == 0;
#endif
  }
};

}  // namespace zerorun
