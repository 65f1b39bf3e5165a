// Histogram and length-limited Huffman codes on the CPU, against independent constructions.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <queue>
#include <random>
#include <utility>
#include <vector>

#include "zerorun/entropy.hpp"

namespace zerorun::entropy {
namespace {

using Counts = std::array<std::uint64_t, kSymbols>;

Counts counts_of(const std::vector<std::uint64_t>& first) {
  Counts counts{};
  std::copy(first.begin(), first.end(), counts.begin());
  return counts;
}

Counts fibonacci(std::size_t symbols) {
  Counts counts{};
  std::uint64_t a = 1, b = 1;
  for (std::size_t i = 0; i < symbols; ++i) {
    counts[i] = a;
    b = std::exchange(a, b) + b;
  }
  return counts;
}

std::uint64_t cost(const Counts& counts, const Codebook& book) {
  std::uint64_t bits = 0;
  for (std::size_t s = 0; s < kSymbols; ++s) bits += counts[s] * book.bits[s];
  return bits;
}

/// Sum of 2^-bits in units of 2^-32: 2^32 for a code without gaps.
std::uint64_t kraft(const Codebook& book) {
  std::uint64_t sum = 0;
  for (const int bits : book.bits)
    if (bits > 0) sum += std::uint64_t{1} << (kMaxCodeBits - bits);
  return sum;
}

/// Cost of an optimal code without a limit: the sum of all merged weights.
std::uint64_t huffman_cost(const Counts& counts) {
  std::priority_queue<std::uint64_t, std::vector<std::uint64_t>, std::greater<>> heap;
  for (const std::uint64_t count : counts)
    if (count > 0) heap.push(count);
  std::uint64_t sum = 0;
  while (heap.size() > 1) {
    std::uint64_t merged = heap.top();
    heap.pop();
    merged += heap.top();
    heap.pop();
    sum += merged;
    heap.push(merged);
  }
  return sum;
}

/// Cost of an optimal code with at most max_bits bits, by package-merge (Larmore and Hirschberg).
std::uint64_t package_merge_cost(const Counts& counts, int max_bits) {
  std::vector<std::uint64_t> leaves;
  for (const std::uint64_t count : counts)
    if (count > 0) leaves.push_back(count);
  std::sort(leaves.begin(), leaves.end());
  std::vector<std::uint64_t> list = leaves;
  for (int level = 1; level < max_bits; ++level) {
    std::vector<std::uint64_t> packages;
    for (std::size_t i = 0; i + 1 < list.size(); i += 2) packages.push_back(list[i] + list[i + 1]);
    std::vector<std::uint64_t> merged(leaves.size() + packages.size());
    std::merge(leaves.begin(), leaves.end(), packages.begin(), packages.end(), merged.begin());
    list = std::move(merged);
  }
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < 2 * leaves.size() - 2; ++i) sum += list[i];
  return sum;
}

/// Canonical: shorter codewords first, then smaller symbols, each the successor of the one before.
void expect_canonical(const Codebook& book) {
  std::uint64_t next = 0;  // left-aligned to 32 bits
  for (int bits = 1; bits <= kMaxCodeBits; ++bits) {
    for (std::size_t s = 0; s < kSymbols; ++s) {
      if (book.bits[s] != bits) continue;
      const int unused = kMaxCodeBits - bits;
      ASSERT_EQ(std::uint64_t{book.value[s]} << unused, next) << "symbol " << s;
      next += std::uint64_t{1} << unused;
    }
  }
}

TEST(Histogram, CountsEverySymbol) {
  const std::vector<std::uint8_t> in = {0, 255, 7, 7, 255, 255};
  Counts counts;
  counts.fill(99);
  ASSERT_TRUE(histogram(in, counts).is_ok());
  Counts expected{};
  expected[0] = 1;
  expected[7] = 2;
  expected[255] = 3;
  EXPECT_EQ(counts, expected);
}

TEST(Codebook, NoSymbolsHaveNoCodewords) {
  const auto book = build_codebook(Counts{}, 16);
  ASSERT_TRUE(book.is_ok());
  EXPECT_EQ(kraft(*book), 0u);
}

TEST(Codebook, OneSymbolGetsOneBit) {
  Counts counts{};
  counts[42] = 7;
  const auto book = build_codebook(counts, 16);
  ASSERT_TRUE(book.is_ok());
  EXPECT_EQ(book->bits[42], 1);
  EXPECT_EQ(book->value[42], 0u);
  EXPECT_EQ(std::count(book->bits.begin(), book->bits.end(), 0), kSymbols - 1);
}

TEST(Codebook, HandWritten) {
  const auto book = build_codebook(counts_of({5, 9, 12, 13, 16, 45}), 16);
  ASSERT_TRUE(book.is_ok());
  const std::array<int, 6> bits = {4, 4, 3, 3, 3, 1};
  const std::array<std::uint32_t, 6> values = {0b1110, 0b1111, 0b100, 0b101, 0b110, 0b0};
  for (std::size_t s = 0; s < 6; ++s) {
    EXPECT_EQ(book->bits[s], bits[s]) << s;
    EXPECT_EQ(book->value[s], values[s]) << s;
  }
}

TEST(Codebook, TiesTakeTheLargerSymbolFirst) {
  // 1 and 2 merge first (the larger of the three equals), so that symbol 0 stays short.
  const auto book = build_codebook(counts_of({1, 1, 1}), 16);
  ASSERT_TRUE(book.is_ok());
  EXPECT_EQ(book->bits[0], 1);
  EXPECT_EQ(book->bits[1], 2);
  EXPECT_EQ(book->bits[2], 2);
}

TEST(Codebook, FibonacciCountsReachEveryLimit) {
  for (int max_bits = 8; max_bits <= kMaxCodeBits; ++max_bits) {
    SCOPED_TRACE(max_bits);
    const Counts counts = fibonacci(64);
    const auto book = build_codebook(counts, max_bits);
    ASSERT_TRUE(book.is_ok());
    EXPECT_EQ(*std::max_element(book->bits.begin(), book->bits.end()), max_bits);
    EXPECT_EQ(kraft(*book), std::uint64_t{1} << kMaxCodeBits);
    expect_canonical(*book);
    EXPECT_GE(cost(counts, *book), package_merge_cost(counts, max_bits));
  }
}

TEST(Codebook, FigureK3ByHand) {
  // Depths of 1 1 2 3 5 ... (11 symbols) are 10 10 9 8 7 6 5 4 3 2 1. To 8 bits, Figure K.3 turns
  // BITS 1 1 1 1 1 1 1 1 1 2 first into ... 7: 0, 8: 3, 9: 2 and then into 6: 0, 7: 2, 8: 4.
  const auto book = build_codebook(fibonacci(11), 8);
  ASSERT_TRUE(book.is_ok());
  std::array<int, 9> bits{};
  for (std::size_t s = 0; s < 11; ++s) ++bits[book->bits[s]];
  EXPECT_EQ(bits, (std::array<int, 9>{0, 1, 1, 1, 1, 1, 0, 2, 4}));
}

TEST(Codebook, RandomHistograms) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE(round);
    Counts counts{};
    const std::size_t symbols = 2 + random() % 255;
    for (std::size_t i = 0; i < symbols; ++i)
      counts[random() % kSymbols] = random() >> (20 + random() % 44);
    if (std::count(counts.begin(), counts.end(), 0u) > kSymbols - 2) continue;
    for (const int max_bits : {8, 11, 16, 32}) {
      const auto book = build_codebook(counts, max_bits);
      ASSERT_TRUE(book.is_ok());
      EXPECT_EQ(kraft(*book), std::uint64_t{1} << kMaxCodeBits);
      EXPECT_LE(*std::max_element(book->bits.begin(), book->bits.end()), max_bits);
      for (std::size_t s = 0; s < kSymbols; ++s) EXPECT_EQ(book->bits[s] > 0, counts[s] > 0);
      expect_canonical(*book);
      const std::uint64_t bound = package_merge_cost(counts, max_bits);
      EXPECT_GE(cost(counts, *book), bound);
      const auto unlimited = build_codebook(counts, kMaxCodeBits);
      ASSERT_TRUE(unlimited.is_ok());
      const int depth = *std::max_element(unlimited->bits.begin(), unlimited->bits.end());
      if (depth < kMaxCodeBits && depth <= max_bits) {  // no limit was met
        EXPECT_EQ(cost(counts, *book), bound);
        EXPECT_EQ(cost(counts, *book), huffman_cost(counts));
      }
    }
  }
}

TEST(Codebook, LimitsAndCountsOutOfRange) {
  const Counts counts = counts_of({1, 1});
  EXPECT_EQ(build_codebook(counts, 7).status().code(), Errc::invalid_argument);
  EXPECT_EQ(build_codebook(counts, 33).status().code(), Errc::invalid_argument);
  Counts large{};
  large[0] = large[1] = std::numeric_limits<std::uint64_t>::max() / 2 + 1;
  EXPECT_EQ(build_codebook(large, 16).status().code(), Errc::invalid_argument);
  large[1] -= 1;
  EXPECT_TRUE(build_codebook(large, 16).is_ok());
}

}  // namespace
}  // namespace zerorun::entropy
