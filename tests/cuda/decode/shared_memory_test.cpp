// What the decoder's kernels ask for on devices with little shared memory, and what they do there.
// SPDX-License-Identifier: MIT
#include "cuda/decode/scan_memory.hpp"

#include <gtest/gtest.h>

namespace zerorun {
namespace {

constexpr std::size_t kKib = 1024;
constexpr std::size_t k48 = 48 * kKib, k64 = 64 * kKib, k99 = 99 * kKib, k163 = 163 * kKib,
                      k227 = 227 * kKib;
constexpr std::uint32_t kMostPairs = kMaxTablePairs;

TEST(SharedMemory, NeedsAreKnown) {
  EXPECT_EQ(sync_shared_bytes(kMostPairs, kMostEnds), 105840u);
  EXPECT_EQ(sync_shared_bytes(2, kSparseEnds), 76272u);
  EXPECT_EQ(decode_shared_bytes(kMostPairs), 58560u);
}

TEST(SharedMemory, LargeDevicesKeepEverything) {
  for (const std::size_t limit : {k163, k227})
    for (std::uint32_t pairs = 1; pairs <= kMostPairs; ++pairs) {
      EXPECT_TRUE(map_fits(limit, pairs, kMaxBlocksPerMcu));
      EXPECT_EQ(choose_ends(limit, pairs, kMostEnds), kMostEnds);
      EXPECT_EQ(choose_ends(limit, pairs, kSparseEnds), kSparseEnds);
    }
}

TEST(SharedMemory, NinetyNineKibTakeAllScansWithFewerEnds) {
  EXPECT_EQ(choose_ends(k99, 3, kMostEnds), 14u);
  EXPECT_EQ(choose_ends(k99, 2, kMostEnds), kMostEnds);
  for (std::uint32_t pairs = 1; pairs <= kMostPairs; ++pairs) {
    EXPECT_TRUE(map_fits(k99, pairs, kMaxBlocksPerMcu));
    EXPECT_EQ(choose_ends(k99, pairs, kSparseEnds), kSparseEnds);
  }
}

TEST(SharedMemory, SixtyFourKibTakeUsualScans) {
  EXPECT_EQ(choose_ends(k64, 1, kMostEnds), 13u);
  EXPECT_EQ(choose_ends(k64, 2, kMostEnds), 6u);
  EXPECT_TRUE(map_fits(k64, 1, kMaxBlocksPerMcu));
  EXPECT_TRUE(map_fits(k64, 2, 6)) << "4:2:0";
  EXPECT_FALSE(map_fits(k64, 2, 8)) << "no end for each guess";
  EXPECT_FALSE(map_fits(k64, 3, 3));
}

TEST(SharedMemory, FortyEightKibTakeScansWithOnePair) {
  EXPECT_EQ(choose_ends(k48, 1, kMostEnds), 6u);
  EXPECT_TRUE(map_fits(k48, 1, 1));
  EXPECT_FALSE(map_fits(k48, 2, 3));
}

TEST(SharedMemory, WhatIsChosenFits) {
  for (std::size_t limit = 0; limit <= k227; limit += 16)
    for (std::uint32_t pairs = 1; pairs <= kMostPairs; ++pairs)
      for (std::uint32_t period = 1; period <= kMaxBlocksPerMcu; ++period) {
        if (!map_fits(limit, pairs, period)) continue;
        const std::uint32_t ends = choose_ends(limit, pairs, kMostEnds);
        ASSERT_GE(ends, period);
        ASSERT_LE(sync_shared_bytes(pairs, ends), limit);
        ASSERT_LE(decode_shared_bytes(pairs), limit);
      }
}

}  // namespace
}  // namespace zerorun
