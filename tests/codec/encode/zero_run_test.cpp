// Symbols of the CPU stage: every value behind every run, in every place.
// SPDX-License-Identifier: MIT
#include "codec/encode/zero_run.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "codec/pipeline/stage_table.hpp"

namespace zerorun::test {
namespace {

std::vector<Symbol> by_stage(const ScanLayout& layout, const std::vector<std::int16_t>& zz,
                             const std::vector<std::int16_t>& diff) {
  const auto blocks = static_cast<std::int64_t>(diff.size());
  std::vector<Symbol> symbols(zz.size());
  std::vector<std::uint32_t> first(diff.size() + 1);
  Exec exec;
  EXPECT_TRUE(cpu_stages().zero_run(
      {layout, blocks, zz.data(), diff.data(), symbols.data(), first.data()}, exec));
  symbols.resize(first.back());
  return symbols;
}

/// Each AC value that 8-bit baseline has, behind each number of zeros, in each position it leads
/// to, with each table.
TEST(ZeroRun, EveryValueRunAndTable) {
  for (const int table : {0, 1}) {
    const ComponentSpec spec{1, 1, 0, static_cast<std::uint8_t>(table)};
    const int only = 0;
    const ScanLayout layout = make_scan_layout(8, 8, &spec, 1, &only, 1, 0);
    for (int value = -1023; value <= 1023; ++value) {
      if (value == 0) continue;
      std::vector<std::int16_t> zz(std::size_t{kBlockSize} * 63, 0), diff(63);
      std::vector<Symbol> expected;
      for (int k = 1; k < kBlockSize; ++k) {
        const auto block = static_cast<std::size_t>(k - 1);
        zz[block * kBlockSize + static_cast<std::size_t>(k)] = static_cast<std::int16_t>(value);
        diff[block] = static_cast<std::int16_t>(2 * value);
        expected.push_back(make_symbol(0, 2 * value, 0));
        int run = k - 1;
        for (; run > 15; run -= 16) expected.push_back(make_symbol(15, 0, 2 + table));
        expected.push_back(make_symbol(run, value, 2 + table));
        if (k < kBlockSize - 1) expected.push_back(make_symbol(0, 0, 2 + table));
      }
      ASSERT_EQ(by_stage(layout, zz, diff), expected) << "value " << value;
    }
  }
}

TEST(ZeroRun, BlocksWithoutZerosAndWithoutCoefficients) {
  const ComponentSpec spec{};
  const int only = 0;
  const ScanLayout layout = make_scan_layout(8, 8, &spec, 1, &only, 1, 0);
  std::vector<std::int16_t> zz(std::size_t{2} * kBlockSize, 0);
  std::vector<Symbol> expected{make_symbol(0, 0, 0)};
  for (int k = 1; k < kBlockSize; ++k) {
    zz[static_cast<std::size_t>(k)] = static_cast<std::int16_t>(k);
    expected.push_back(make_symbol(0, k, 2));
  }
  expected.push_back(make_symbol(0, -5, 0));
  expected.push_back(make_symbol(0, 0, 2));
  EXPECT_EQ(by_stage(layout, zz, {0, -5}), expected);
}

}  // namespace
}  // namespace zerorun::test
