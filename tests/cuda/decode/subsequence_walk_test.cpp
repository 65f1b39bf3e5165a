// What tests/fuzz/walk_fuzz.cpp, which walks over subsequences of any bits, does not see: pairs
// hold what they are made of, and are stored eight at a time, all of a walk's own and nothing else.
// SPDX-License-Identifier: MIT
#include <array>

#include <gtest/gtest.h>

#include "cuda/decode/pair_sink.hpp"
#include "tests/cuda/decode/host_subsequences.hpp"

namespace zerorun::test {
namespace {

TEST(SubsequenceWalk, PairsKeepIndexAndLevelUnlessItIsWide) {
  for (std::uint32_t index = 0; index < kBlockSize; ++index)
    for (std::int32_t level = -32767; level <= 32767; ++level) {
      const bool wide = is_wide(level);
      ASSERT_EQ(wide, level < -511 || level > 511);
      const std::uint16_t pair = pack_pair(index, wide ? kWideLevel : level);
      ASSERT_EQ(pair & kPairIndexMask, index);
      ASSERT_EQ(level_of(pair), wide ? kWideLevel : level);
    }
}

/// The memory of a few pairs; what is not stored there stays as it was.
struct PairMemory {
  static constexpr std::size_t kPairs = 192;
  alignas(16) std::array<std::uint16_t, kPairs> pairs;
  std::array<std::int16_t, kPairs> wide;

  PairMemory() {
    pairs.fill(0xAAAA);
    wide.fill(0x5555);
  }
  void store(std::uint32_t& number, const WalkPair& pair) {
    if (!pair.exists) return;
    pairs[number] = pack_pair(pair.index, is_wide(pair.level) ? kWideLevel : pair.level);
    if (is_wide(pair.level)) wide[number] = static_cast<std::int16_t>(pair.level);
    ++number;
  }
};

TEST(PairSink, StoresTheWalksPairsAndNoOthers) {
  Random random(15);
  for (int turn = 0; turn < 20000; ++turn) {
    const auto begin = static_cast<std::uint32_t>(random.below(17));
    PairMemory found, expected;
    PairSink sink{found.pairs.data(), found.wide.data(), nullptr, begin};
    std::uint32_t number = begin, expected_number = begin;
    const auto pair_below = [&](std::int32_t bound) {
      return WalkPair{random.below(4) != 0, static_cast<std::uint32_t>(random.below(kBlockSize)),
                      random.between(1 - bound, bound - 1)};
    };
    for (int steps = random.below(38); steps > 0; --steps) {
      const WalkPair first = pair_below(random.below(8) == 0 ? 32768 : 512);
      const WalkPair second = pair_below(512);
      number = sink.put(number, first, second);
      expected.store(expected_number, first);
      expected.store(expected_number, second);
      ASSERT_EQ(number, expected_number);
    }
    sink.finish(number);
    ASSERT_EQ(found.pairs, expected.pairs) << "from " << begin << " to " << number;
    ASSERT_EQ(found.wide, expected.wide);
  }
}

}  // namespace
}  // namespace zerorun::test
