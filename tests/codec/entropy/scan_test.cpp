// Prefix sums and stream compaction on the CPU.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "zerorun/entropy.hpp"

namespace zerorun::entropy {
namespace {

using Words = std::vector<std::uint32_t>;

TEST(Scan, ExclusiveAndInclusive) {
  const Words in = {3, 1, 7, 0, 4, 1, 6, 3};
  Words out(in.size());
  ASSERT_TRUE(exclusive_scan(in, out).is_ok());
  EXPECT_EQ(out, (Words{0, 3, 4, 11, 11, 15, 16, 22}));
  ASSERT_TRUE(inclusive_scan(in, out).is_ok());
  EXPECT_EQ(out, (Words{3, 4, 11, 11, 15, 16, 22, 25}));
}

TEST(Scan, WrapsAround) {
  const Words in = {0xFFFFFFFFu, 2, 5};
  Words out(in.size());
  ASSERT_TRUE(inclusive_scan(in, out).is_ok());
  EXPECT_EQ(out, (Words{0xFFFFFFFFu, 1, 6}));
}

TEST(Scan, EmptyAndTooSmall) {
  EXPECT_TRUE(exclusive_scan({}, {}).is_ok());
  EXPECT_TRUE(inclusive_scan({}, {}).is_ok());
  const Words in = {1, 2};
  Words out(1);
  EXPECT_EQ(exclusive_scan(in, out).code(), Errc::output_too_small);
  EXPECT_EQ(inclusive_scan(in, out).code(), Errc::output_too_small);
}

TEST(Compact, KeepsTheOrderAndTakesAnyNonZeroFlag) {
  const std::vector<std::int32_t> in = {10, 11, 12, 13, 14};
  const std::vector<std::uint8_t> flags = {0, 1, 0, 255, 2};
  std::vector<std::int32_t> out(3);
  const auto kept = compact(in, flags, out);
  ASSERT_TRUE(kept.is_ok());
  EXPECT_EQ(*kept, 3u);
  EXPECT_EQ(out, (std::vector<std::int32_t>{11, 13, 14}));
}

TEST(Compact, NothingKeptNeedsNoOutput) {
  const std::vector<std::int32_t> in = {1, 2};
  const std::vector<std::uint8_t> flags = {0, 0};
  const auto kept = compact(in, flags, {});
  ASSERT_TRUE(kept.is_ok());
  EXPECT_EQ(*kept, 0u);
}

TEST(Compact, Errors) {
  const std::vector<std::int32_t> in = {1, 2};
  const std::vector<std::uint8_t> flags = {1, 1};
  std::vector<std::int32_t> out(1);
  EXPECT_EQ(compact(in, flags, out).status().code(), Errc::output_too_small);
  EXPECT_EQ(compact(in, std::span(flags).first(1), out).status().code(), Errc::invalid_argument);
}

}  // namespace
}  // namespace zerorun::entropy
