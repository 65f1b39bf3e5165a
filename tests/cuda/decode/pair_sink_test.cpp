// Pairs that are stored eight at a time: all of a walk's own, and nothing else. So two sinks store
// them.
// SPDX-License-Identifier: MIT
#include "cuda/decode/pair_sink.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>

#include <gtest/gtest.h>

#include "cuda/decode/staged_pairs.hpp"
#include "tests/support/random.hpp"

namespace zerorun::test {
namespace {

/// The memory of a few pairs; what is not stored there stays as it was.
struct PairMemory {
  static constexpr std::size_t kPairs = 192;
  alignas(16) std::array<std::uint16_t, kPairs> pairs;
  std::array<std::int16_t, kPairs> wide;
  std::array<std::uint32_t, kPairs> block_pair;

  PairMemory() {
    pairs.fill(0xAAAA);
    wide.fill(0x5555);
    block_pair.fill(0x55AA55AA);
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

/// Throws where the walk leaves its part of the memory.
struct HostStage {
  static constexpr std::uint32_t kBegin = 2 * kStageBytes;
  std::uint16_t* memory;  ///< of the walk's part

  std::uint16_t* place(std::uint32_t at, std::uint32_t bytes) const {
    if (at < kBegin || at + bytes > kBegin + kStageBytes || at % bytes != 0)
      throw std::out_of_range("not in the stage");
    return memory + (at - kBegin) / 2;
  }
  void store(std::uint32_t at, std::uint32_t pair) const {
    *place(at, 2) = static_cast<std::uint16_t>(pair);
  }
  EightPairs load_eight(std::uint32_t at) const {
    EightPairs eight;
    std::memcpy(eight.words, place(at, 16), 16);
    return eight;
  }
  void store_eight(std::uint32_t at, const EightPairs& eight) const {
    std::memcpy(place(at, 16), eight.words, 16);
  }
};

TEST(StagedPairs, StoresTheWalksPairsAndNoOthers) {
  Random random(16);
  for (int turn = 0; turn < 20000; ++turn) {
    const auto begin = static_cast<std::uint32_t>(random.below(17));
    PairMemory found, expected;
    std::array<std::uint16_t, kStagePairs> stage;
    stage.fill(0xBBBB);
    StagedPairs<HostStage> sink(found.pairs.data(), found.wide.data(), found.block_pair.data(),
                                {stage.data()}, HostStage::kBegin, begin);
    std::uint32_t number = begin, block = 0;
    // Mostly few pairs, or mostly two a step.
    const int chance = random.between(2, 12);
    const auto pair_of = [&](std::int32_t level) {
      return WalkPair{random.below(chance) != 0,
                      static_cast<std::uint32_t>(random.below(kBlockSize)), level};
    };
    const int steps = random.below(76);
    for (int step = 0, since = 0; step < steps; ++step, ++since) {
      const bool is_wide_step = random.below(16) == 0;
      if (since == kStagedSteps || is_wide_step || random.below(16) == 0) {
        sink.flush();
        since = 0;
      }
      if (random.below(4) == 0) {
        sink.block_starts_if(true, block);
        expected.block_pair[block++] = number;
      }
      sink.block_starts_if(false, block);
      if (is_wide_step) {
        const WalkPair wide{true, static_cast<std::uint32_t>(random.below(kBlockSize)),
                            (random.below(2) * 2 - 1) * random.between(512, 32767)};
        sink.put_wide(wide);
        expected.store(number, wide);
        sink.flush();
        since = -1;
      } else {
        const WalkPair first = pair_of(random.between(-511, 511));
        const WalkPair second = pair_of(random.between(-511, 511));
        sink.put(first, second);
        expected.store(number, first);
        expected.store(number, second);
      }
      ASSERT_EQ(sink.number(), number);
    }
    sink.finish();
    ASSERT_EQ(sink.number(), number);
    ASSERT_EQ(found.pairs, expected.pairs) << "from " << begin << " to " << number;
    ASSERT_EQ(found.wide, expected.wide);
    ASSERT_EQ(found.block_pair, expected.block_pair);
  }
}

}  // namespace
}  // namespace zerorun::test
