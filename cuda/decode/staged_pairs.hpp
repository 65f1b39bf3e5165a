// How a walk over a group stores its pairs. Host code too, so that a test can run the algorithm
// without a device.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "cuda/decode/pair_sink.hpp"

namespace zerorun {

/// The most steps, of two pairs each, before pairs have to be flushed.
inline constexpr std::uint32_t kStagedSteps = 8;
/// Pairs that a walk has room for. Less than eight are left when they are flushed, and one more may
/// be stored without being a pair.
inline constexpr std::uint32_t kStagePairs = 24;
static_assert(7 + 2 * kStagedSteps + 1 <= kStagePairs);
inline constexpr std::uint32_t kStageBytes = kStagePairs * sizeof(std::uint16_t);

/// Stores eight pairs without a branch, to a multiple of 16 bytes in global memory.
ZR_HD void store_pairs_if(bool condition, std::uint16_t* to, const EightPairs& eight) {
#ifdef __CUDA_ARCH__
  asm volatile(
      "{\n\t"
      ".reg .pred holds;\n\t"
      "setp.ne.u32 holds, %0, 0;\n\t"
      "@holds st.global.v4.u32 [%1], {%2, %3, %4, %5};\n\t"
      "}" ::"r"(static_cast<std::uint32_t>(condition)),
      "l"(to), "r"(eight.words[0]), "r"(eight.words[1]), "r"(eight.words[2]), "r"(eight.words[3])
      : "memory");
#else
  if (condition) store_pairs(to, eight.words);
#endif
}

/// Collects pairs in near memory, each by a store of its own, and after some steps stores them to
/// device memory by eights, all threads of a warp at once. (PairSink has a branch for eight pairs
/// that are complete. In 85 % of the steps of a warp that decodes groups of 2 MCUs some thread
/// takes it, in a 3840x2160 photo at q90 on an H200.)
///
/// `Stage`: store(at, pair) to the byte `at` of that memory; load_eight(at) and store_eight(at,
/// eight) at multiples of 16.
template <typename Stage>
struct StagedPairs {
  std::uint16_t* pairs;  ///< of the scan, at a multiple of 16 bytes
  std::int16_t* wide;    ///< the level of each that has no room for it
  std::uint32_t* block_pair;
  Stage stage;
  std::uint32_t begin;   ///< place of kStageBytes, of a pair whose number is a multiple of eight
  std::uint32_t at;      ///< place of the next pair
  std::uint32_t origin;  ///< a pair's number less half its place
  std::uint32_t others;  ///< pairs at `begin` that are those of another walk

  /// `from`: place of the stage. `first`: number of the walk's first pair.
  ZR_HD StagedPairs(std::uint16_t* pairs_of_scan, std::int16_t* wide_of_scan,
                    std::uint32_t* block_pair_of_walk, const Stage& stage_of_walk,
                    std::uint32_t from, std::uint32_t first)
      : pairs(pairs_of_scan),
        wide(wide_of_scan),
        block_pair(block_pair_of_walk),
        stage(stage_of_walk),
        begin(from),
        at(from + first % 8 * kPairBytes),
        origin(first - at / kPairBytes),
        others(first % 8) {}

  /// Number of the next pair.
  ZR_HD std::uint32_t number() const { return origin + at / kPairBytes; }
  /// If the next pair is the first of the walk's block `block`, or would be.
  ZR_HD void block_starts_if(bool condition, std::uint32_t block) const {
#ifdef __CUDA_ARCH__
    asm volatile(
        "{\n\t"
        ".reg .pred holds;\n\t"
        "setp.ne.u32 holds, %0, 0;\n\t"
        "@holds st.global.u32 [%1], %2;\n\t"
        "}" ::"r"(static_cast<std::uint32_t>(condition)),
        "l"(block_pair + block), "r"(number())
        : "memory");
#else
    if (condition) block_pair[block] = number();
#endif
  }
  /// The pairs of a step, whose levels are not wide. What is stored without being a pair gives way
  /// to the next.
  ZR_HD void put(const WalkPair& first, const WalkPair& second) {
    stage.store(at, pair_word(first.index, first.level));
    add_if(first.exists, at, kPairBytes);
    stage.store(at, pair_word(second.index, second.level));
    add_if(second.exists, at, kPairBytes);
  }
  /// A pair whose level is wide, after flush() and before it.
  ZR_HD void put_wide(const WalkPair& pair) {
    wide[number()] = static_cast<std::int16_t>(pair.level);
    stage.store(at, pair_word(pair.index, kWideLevel));
    at += kPairBytes;
  }
  /// Stores the pairs up to the last multiple of eight.
  ZR_HD void flush() {
    const std::uint32_t bytes = (at - begin) / kRunBytes * kRunBytes;
    std::uint16_t* const to = pairs + (origin + begin / kPairBytes);
    const EightPairs first = stage.load_eight(begin), second = stage.load_eight(begin + kRunBytes);
    const EightPairs rest = stage.load_eight(begin + bytes);
    store_pairs_if(bytes != 0 && others == 0, to, first);
    store_pairs_if(bytes > kRunBytes, to + 8, second);
    if (bytes != 0 && others != 0) {
      store_range(to, first, others, 8);
      others = 0;
    }
    stage.store_eight(begin, rest);
    at -= bytes;
    origin += bytes / kPairBytes;
  }
  /// Stores the rest.
  ZR_HD void finish() {
    flush();
    const std::uint32_t left = (at - begin) / kPairBytes;
    const EightPairs last = stage.load_eight(begin);
    std::uint16_t* const to = pairs + (origin + begin / kPairBytes);
    if (others == 0)
      store_first(to, last, left);
    else
      store_range(to, last, others, left);
  }

 private:
  static constexpr std::uint32_t kPairBytes = sizeof(std::uint16_t), kRunBytes = 8 * kPairBytes;
  static_assert(kStageBytes == 3 * kRunBytes, "flush() finds at most two runs and a rest");
};

}  // namespace zerorun
