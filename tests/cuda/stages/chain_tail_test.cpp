// Which subsequences are moot, beside a plain walk over them.
// SPDX-License-Identifier: MIT
#include "cuda/stages/chain_tail.hpp"

#include <gtest/gtest.h>

#include "tests/support/random.hpp"

namespace zerorun::test {
namespace {

/// By going through the bits in order.
ChainTail walk(std::uint32_t heads, std::uint32_t faults) {
  ChainTail tail = ChainTail::passes;
  for (int i = 0; i < 32; ++i) {
    if ((heads >> i & 1) != 0) tail = ChainTail::counts;
    if ((faults >> i & 1) != 0) tail = ChainTail::moot;
  }
  return tail;
}

TEST(ChainTail, IsThatOfAWalk) {
  Random random(5);
  for (int i = 0; i < 100000; ++i) {
    // Few bits, so that their order is any.
    std::uint32_t heads = 0, faults = 0;
    for (int n = random.below(4); n > 0; --n) heads |= 1u << random.below(32);
    for (int n = random.below(4); n > 0; --n) faults |= 1u << random.below(32);
    ASSERT_EQ(tail_of(heads, faults), walk(heads, faults)) << heads << " " << faults;
    const std::uint32_t low = (1u << random.below(32)) - 1;
    ASSERT_EQ(join(tail_of(heads & low, faults & low), tail_of(heads & ~low, faults & ~low)),
              walk(heads, faults));
  }
}

TEST(ChainTail, AFaultInTheHeadItselfCounts) {
  EXPECT_EQ(tail_of(0, 0), ChainTail::passes);
  EXPECT_EQ(tail_of(4, 4), ChainTail::moot);
  EXPECT_EQ(tail_of(8, 4), ChainTail::counts);
  EXPECT_EQ(tail_of(0x80000000u, 0), ChainTail::counts);
}

}  // namespace
}  // namespace zerorun::test
