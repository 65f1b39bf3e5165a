// What blocks add to the scans of a progressive frame, as kernels find it, and the choice of a
// script: both are those of the CPU.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "codec/encode/progressive_scan.hpp"
#include "cuda/encode/scan_symbols.hpp"
#include "cuda/encode/script_plan.hpp"
#include "tests/support/random.hpp"

namespace zerorun::test {
namespace {

constexpr int kLast = kBlockSize - 1;

/// A component of one row of blocks.
struct Row {
  std::vector<std::int16_t> dc, ac;
  std::vector<std::uint64_t> nonzero;
  BlockPacker packer;

  Row(int blocks, int largest, int zeros, Random& random) {
    for (int b = 0; b < blocks; ++b) {
      std::uint64_t mask = 0;
      ac.push_back(0);
      dc.push_back(0);
      for (int k = 1; k < kBlockSize; ++k) {
        const bool is_zero = random.below(zeros + 1) > 0;
        ac.push_back(static_cast<std::int16_t>(is_zero ? 0 : random.between(-largest, largest)));
        mask |= std::uint64_t{ac.back() != 0} << k;
      }
      nonzero.push_back(mask);
    }
    std::uint8_t order[kBlockSize];
    for (int k = 0; k < kBlockSize; ++k) order[k] = static_cast<std::uint8_t>(k);
    EXPECT_TRUE(packer.pack({blocks, 1, dc.data(), nonzero.data(), ac.data()}, order));
  }

  int blocks() const { return static_cast<int>(dc.size()); }
  const std::int16_t* block(int b) const { return ac.data() + b * kBlockSize; }
  std::uint64_t level(int b, int al) const {
    std::uint64_t mask = 0;
    for (int k = 1; k < kBlockSize; ++k)
      mask |= std::uint64_t{magnitude_of(block(b)[k], al) != 0} << k;
    return mask;
  }

  /// The CPU's counts but for ends of bands.
  std::vector<std::uint32_t> expected(int ss, int se, int ah, int al) const {
    ScanCoding scan{};
    scan.spec.components = 1;
    scan.spec.ss = static_cast<std::uint8_t>(ss);
    scan.spec.se = static_cast<std::uint8_t>(se);
    scan.spec.ah = static_cast<std::uint8_t>(ah);
    scan.spec.al = static_cast<std::uint8_t>(al);
    const ComponentSpec component;
    const int number = 0;
    scan.layout = make_scan_layout(8 * blocks(), 8, &component, 1, &number, 1, 0);
    scan.component[0] = &packer.packed();
    ScanCounts counts{};
    count_scan(scan, counts);
    std::vector<std::uint32_t> found(counts.count[2], counts.count[2] + 256);
    for (std::size_t symbol = 0; symbol < kZrl; symbol += 16) found[symbol] = 0;
    return found;
  }
};

struct Counts {
  static constexpr bool kReadsValues = false;
  std::vector<std::uint32_t> count = std::vector<std::uint32_t>(256);

  void symbol(int rrrrssss, std::uint32_t, int) { ++count[static_cast<std::size_t>(rrrrssss)]; }
  void bits(std::uint32_t, int) {}
};

struct RowCounts {
  std::uint32_t row[JobCounts::kEndsRow][256] = {};
  void add(int number, int rrrrssss, std::uint32_t times) { row[number][rrrrssss] += times; }
};

TEST(ScanSymbols, FirstScansHaveTheSymbolsOfTheCpu) {
  Random random(1);
  for (int round = 0; round < 40; ++round) {
    const Row row(random.between(1, 40), random.between(1, 200), random.below(40), random);
    for (int al = 0; al <= kMaxLowBits; ++al)
      for (const auto& [ss, se] : {std::pair{1, kLast}, {1, 5}, {6, kLast}, {19, kLast}}) {
        Counts counts;
        for (int b = 0; b < row.blocks(); ++b) {
          const std::uint64_t band = (~std::uint64_t{0} >> (63 - se)) & (~std::uint64_t{0} << ss);
          walk_first_scan(BandBlock(band, row.level(b, al), 0), ss, al, row.block(b), counts);
        }
        ASSERT_EQ(counts.count, row.expected(ss, se, 0, al)) << round << ' ' << al << ' ' << ss;
      }
  }
}

TEST(ScanSymbols, RefiningScansHaveTheSymbolsOfTheCpu) {
  Random random(2);
  for (int round = 0; round < 60; ++round) {
    const Row row(random.between(1, 40), random.between(1, 20), random.below(40), random);
    for (int al = 0; al < kMaxLowBits; ++al) {
      Counts counts;
      for (int b = 0; b < row.blocks(); ++b)
        walk_refining_scan(BandBlock(~std::uint64_t{1}, row.level(b, al), row.level(b, al + 1)), 1,
                           al, row.block(b), counts);
      ASSERT_EQ(counts.count, row.expected(1, kLast, al + 1, al)) << round << ' ' << al;
    }
  }
}

TEST(ScanSymbols, AllCutsAreCountedAtOnce) {
  Random random(3);
  for (int round = 0; round < 40; ++round) {
    const Row row(random.between(1, 40), random.between(1, 200), random.below(60), random);
    for (int al = 0; al <= kMaxLowBits; ++al) {
      RowCounts counts;
      for (int b = 0; b < row.blocks(); ++b)
        LevelWalk(row.level(b, al), al, row.block(b), counts).count();
      for (int cut = 0; cut < kAcCutCount; ++cut) {
        std::vector<std::uint32_t> low(256), high(256);
        for (std::size_t s = 0; s < 256; ++s) {
          for (int i = 0; i <= kAcCutCount; ++i) (i <= cut ? low : high)[s] += counts.row[i][s];
          high[s] += counts.row[JobCounts::kSegments + cut][s];
        }
        ASSERT_EQ(low, row.expected(1, kAcCuts[cut], 0, al)) << round << ' ' << al << ' ' << cut;
        ASSERT_EQ(high, row.expected(kAcCuts[cut] + 1, kLast, 0, al))
            << round << ' ' << al << ' ' << cut;
      }
    }
  }
}

TEST(ScriptPlan, ChoosesTheScriptOfTheCpu) {
  Random random(4);
  for (int round = 0; round < 2000; ++round) {
    const int components = round % 3 == 0 ? 1 : 3;
    const std::vector<ScanSpec> candidates = candidate_scans(components, true);
    const ScanChoices choices = find_choices(components, candidates);
    std::vector<std::uint64_t> bits;
    // Few values: many scripts take equally many bits.
    for (std::size_t i = 0; i < candidates.size(); ++i)
      bits.push_back(static_cast<std::uint64_t>(random.between(1, round % 2 == 0 ? 5 : 100000)));
    const auto order = std::make_unique<ScanOrder>();
    choose_order(choices, bits.data(), *order);
    ScanScript script;
    for (std::uint32_t i = 0; i < order->scans; ++i) script.push_back(candidates[order->scan[i]]);
    ASSERT_EQ(script, choose_scans(components, true, candidates, bits)) << round;
    ASSERT_LE(script.size(), std::size_t{kMaxScans});
  }
}

}  // namespace
}  // namespace zerorun::test
