// Lengths of codewords, against the figures of T.81 as they stand there.
// SPDX-License-Identifier: MIT
#include "codec/base/code_lengths.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "tests/support/random.hpp"

namespace zerorun::test {
namespace {

constexpr int kLongest = 256;
using Lengths = std::array<int, kLongest + 1>;

/// Figure K.3: a pair of codewords at a time.
void adjust_bits(Lengths& of_length, int max_length) {
  const auto at = [&](int length) -> int& { return of_length[static_cast<std::size_t>(length)]; };
  for (int length = kLongest; length > max_length; --length) {
    while (at(length) > 0) {
      int shorter = length - 2;
      while (at(shorter) == 0) --shorter;
      at(length) -= 2;
      at(length - 1) += 1;
      at(shorter + 1) += 2;
      at(shorter) -= 1;
    }
  }
}

void expect_limited_as_by_figure(std::vector<std::uint64_t> counts) {
  std::vector<int> size(counts.size());
  find_code_lengths(counts, size);
  Lengths found{};
  for (const int length : size)
    if (length > 0) ++found[static_cast<std::size_t>(length)];
  for (const int max_length : {9, 11, 16}) {
    SCOPED_TRACE(max_length);
    Lengths expected = found, limited = found;
    adjust_bits(expected, max_length);
    limit_code_lengths(limited.data(), *std::max_element(size.begin(), size.end()), max_length);
    ASSERT_EQ(limited, expected);
  }
}

TEST(CodeLengths, LimitedAsByFigureK3) {
  expect_limited_as_by_figure({0});
  expect_limited_as_by_figure({1});
  expect_limited_as_by_figure(std::vector<std::uint64_t>(257, 1));
  for (const std::size_t fibonacci : {2u, 20u, 46u}) {
    for (const std::size_t singles : {0u, 1u, 30u, 211u}) {
      std::vector<std::uint64_t> counts(singles, 1);
      std::uint64_t last[2] = {1, 1};
      for (std::size_t i = 0; i < fibonacci; ++i) {
        counts.push_back(last[0]);
        last[0] = std::exchange(last[1], last[0] + last[1]);
      }
      expect_limited_as_by_figure(counts);
    }
  }
  Random random(5);
  for (int round = 0; round < 1000; ++round) {
    SCOPED_TRACE(round);
    std::vector<std::uint64_t> counts(static_cast<std::size_t>(random.between(1, 257)));
    const int bits = random.between(1, 31);
    for (std::uint64_t& count : counts) count = random.next() >> (64 - random.between(1, bits));
    expect_limited_as_by_figure(counts);
  }
}

}  // namespace
}  // namespace zerorun::test
