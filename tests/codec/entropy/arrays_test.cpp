// Run-length coding, prefix sums and stream compaction of integer arrays on the CPU.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "zerorun/entropy.hpp"

namespace zerorun::entropy {
namespace {

using Values = std::vector<std::int32_t>;
using Lengths = std::vector<std::uint32_t>;

TEST(RunLengthEncode, DocumentedExample) {
  const Values in = {1, 2, 3, 6, 6, 6, 5, 5};
  Values values(in.size());
  Lengths lengths(in.size());
  const auto runs = run_length_encode(in, values, lengths);
  ASSERT_TRUE(runs.is_ok());
  ASSERT_EQ(*runs, 5u);
  values.resize(*runs);
  lengths.resize(*runs);
  EXPECT_EQ(values, (Values{1, 2, 3, 6, 5}));
  EXPECT_EQ(lengths, (Lengths{1, 1, 1, 3, 2}));
}

TEST(RunLengthEncode, EmptyInputHasNoRuns) {
  const auto runs = run_length_encode({}, {}, {});
  ASSERT_TRUE(runs.is_ok());
  EXPECT_EQ(*runs, 0u);
}

TEST(RunLengthEncode, OutputsMayBeExactlyAsLargeAsTheRuns) {
  const Values in(1000, -7);
  Values values(1);
  Lengths lengths(1);
  const auto runs = run_length_encode(in, values, lengths);
  ASSERT_TRUE(runs.is_ok());
  EXPECT_EQ(*runs, 1u);
  EXPECT_EQ(values[0], -7);
  EXPECT_EQ(lengths[0], 1000u);
}

TEST(RunLengthEncode, EitherOutputTooSmallIsAnError) {
  const Values in = {1, 2};
  Values values(2);
  Lengths lengths(2);
  EXPECT_EQ(run_length_encode(in, std::span(values).first(1), lengths).status().code(),
            Errc::output_too_small);
  EXPECT_EQ(run_length_encode(in, values, std::span(lengths).first(1)).status().code(),
            Errc::output_too_small);
}

TEST(RunLengthDecode, SkipsEmptyRunsAnywhere) {
  const Values values = {9, 4, 8, 5, 7};
  const Lengths lengths = {0, 2, 0, 1, 0};
  Values out(4, -1);
  const auto written = run_length_decode(values, lengths, out);
  ASSERT_TRUE(written.is_ok());
  EXPECT_EQ(*written, 3u);
  EXPECT_EQ(out, (Values{4, 4, 5, -1}));
}

TEST(RunLengthDecode, Errors) {
  const Values values = {1, 2};
  const Lengths lengths = {3, std::numeric_limits<std::uint32_t>::max()};
  Values out(10);
  EXPECT_EQ(run_length_decode(values, lengths, out).status().code(), Errc::output_too_small);
  EXPECT_EQ(run_length_decode(values, std::span(lengths).first(1), out).status().code(),
            Errc::invalid_argument);
}

TEST(RunLength, RoundTripAtManyMeanRuns) {
  std::mt19937 random(1);
  for (const int mean : {1, 2, 8, 1000}) {
    SCOPED_TRACE(mean);
    std::uniform_int_distribution<int> change(0, mean - 1);
    Values in(10007);
    std::int32_t value = std::numeric_limits<std::int32_t>::min();
    for (auto& element : in) element = change(random) == 0 ? ++value : value;
    Values values(in.size());
    Lengths lengths(in.size());
    const auto runs = run_length_encode(in, values, lengths);
    ASSERT_TRUE(runs.is_ok());
    for (std::size_t r = 1; r < *runs; ++r) ASSERT_NE(values[r], values[r - 1]);
    Values out(in.size());
    const auto written =
        run_length_decode(std::span(values).first(*runs), std::span(lengths).first(*runs), out);
    ASSERT_TRUE(written.is_ok());
    EXPECT_EQ(*written, in.size());
    EXPECT_EQ(out, in);
  }
}

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
