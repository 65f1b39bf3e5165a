// Histogram and Huffman codes built on the device equal the serial twins.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "tests/cuda/entropy/inputs.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/random.hpp"

namespace zerorun::test {
namespace {

using Counts = std::array<std::uint64_t, entropy::kSymbols>;

class HistogramParity : public GpuTest {
 protected:
  static void expect_parity(const std::vector<std::uint8_t>& in, std::size_t skew) {
    Counts expected{};
    ASSERT_TRUE(entropy::histogram(in, expected).is_ok());
    GuardedBuffer<std::uint8_t> d_in(Memory::device, in, skew);
    GuardedBuffer<std::uint64_t> d_counts(Memory::device, expected.size());
    ASSERT_TRUE(cuda_entropy::histogram(d_in.data(), in.size(), d_counts.data(), nullptr).is_ok());
    const auto counts = d_counts.to_host();
    EXPECT_TRUE(std::equal(counts.begin(), counts.end(), expected.begin()));
  }
};

TEST_F(HistogramParity, EverySizeAndAlignment) {
  for (const std::size_t size : {0u, 1u, 15u, 16u, 17u, 31u, 8191u, 8192u, 8193u, 300007u}) {
    for (const std::size_t skew : {0u, 1u, 15u}) {
      SCOPED_TRACE(testing::Message() << size << " bytes, skew " << skew);
      expect_parity(uniform_bytes(size, 256, size), skew);
      expect_parity(std::vector<std::uint8_t>(size, 200), skew);
    }
  }
}

TEST_F(HistogramParity, Large) {
  for (const double bits : {0.0, 2.0, 8.0}) {
    SCOPED_TRACE(bits);
    expect_parity(bytes_of((std::size_t{1} << 26) + 9, bits, 8), 0);
  }
}

class CodebookParity : public GpuTest {
 protected:
  static void expect_parity(const Counts& counts) {
    GuardedBuffer<std::uint64_t> d_counts(Memory::device, counts);
    for (const int max_bits : {8, 11, 16, 32}) {
      SCOPED_TRACE(max_bits);
      GuardedBuffer<entropy::Codebook> d_book(Memory::device, 1);
      GuardedBuffer<cuda_entropy::Outcome> d_outcome(Memory::device, 1);
      ASSERT_TRUE(cuda_entropy::build_codebook(d_counts.data(), max_bits, d_book.data(),
                                               d_outcome.data(), nullptr)
                      .is_ok());
      const auto expected = entropy::build_codebook(counts, max_bits);
      const entropy::Codebook book = d_book.to_host()[0];
      expect_same_fault(cuda_entropy::to_status(d_outcome.to_host()[0]), expected.status());
      const entropy::Codebook none;
      EXPECT_EQ(book.bits, expected ? expected->bits : none.bits);
      EXPECT_EQ(book.value, expected ? expected->value : none.value);
    }
  }
};

TEST_F(CodebookParity, NoneOneTwoAndAllSymbols) {
  Counts counts{};
  expect_parity(counts);
  counts[255] = 9;
  expect_parity(counts);
  counts[0] = 9;
  expect_parity(counts);
  counts.fill(1);
  expect_parity(counts);
}

TEST_F(CodebookParity, SkewedCounts) {
  for (const std::size_t symbols : {12u, 40u, 90u}) {
    SCOPED_TRACE(symbols);
    Counts counts{};
    std::uint64_t a = 1, b = 1;
    for (std::size_t i = 0; i < symbols; ++i) {
      counts[(i * 37) % counts.size()] = a;
      b = std::exchange(a, b) + b;
    }
    expect_parity(counts);
  }
}

TEST_F(CodebookParity, ManyTies) {
  Random random(1);
  for (int round = 0; round < 50; ++round) {
    SCOPED_TRACE(round);
    Counts counts{};
    for (auto& count : counts) count = static_cast<std::uint64_t>(random.below(1 + round % 5));
    expect_parity(counts);
  }
}

TEST_F(CodebookParity, RandomCountsOfEveryMagnitude) {
  Random random(2);
  for (int round = 0; round < 50; ++round) {
    SCOPED_TRACE(round);
    Counts counts{};
    for (auto& count : counts)
      if (random.below(4) != 0) count = random.next() >> (9 + random.below(55));
    expect_parity(counts);
  }
}

TEST_F(CodebookParity, CountsThatOverflow) {
  Counts counts{};
  counts[3] = counts[4] = std::uint64_t{1} << 63;
  expect_parity(counts);
  counts[4] -= 1;
  expect_parity(counts);
}

}  // namespace
}  // namespace zerorun::test
