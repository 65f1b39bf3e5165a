// Bits and pairs of groups, counted once more block by block.
// SPDX-License-Identifier: MIT
#include "codec/encode/group_index.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/random.hpp"

namespace zerorun::test {
namespace {

/// What a scan is made of, with what each block counts.
struct CodedBlocks {
  std::vector<Symbol> symbols;
  std::vector<std::uint32_t> first{0};
  std::vector<std::uint8_t> code_bits;
  std::vector<int> bits, pairs;

  void append(std::uint8_t rrrrssss, int table, int code_length) {
    symbols.push_back({rrrrssss, static_cast<std::uint8_t>(table), 0});
    code_bits.push_back(static_cast<std::uint8_t>(code_length));
    bits.back() += code_length;
  }
};

CodedBlocks random_blocks(int blocks, std::uint64_t seed) {
  Random random(seed);
  CodedBlocks out;
  for (int b = 0; b < blocks; ++b) {
    const int destination = random.below(2);
    out.bits.push_back(0);
    out.pairs.push_back(1);
    out.append(static_cast<std::uint8_t>(random.below(12)), destination, random.between(1, 27));
    const int values = random.below(random.below(5) == 0 ? 64 : 8);
    for (int v = 0; v < values; ++v, ++out.pairs.back()) {
      if (random.below(6) == 0) out.append(kZrl, 2 + destination, random.between(1, 16));
      out.append(static_cast<std::uint8_t>(random.below(16) << 4 | random.between(1, 10)),
                 2 + destination, random.between(2, 26));
    }
    if (random.below(4) != 0) out.append(kEob, 2 + destination, random.between(1, 16));
    out.first.push_back(static_cast<std::uint32_t>(out.symbols.size()));
  }
  return out;
}

std::vector<IndexEntry> expected_entries(const CodedBlocks& blocks, int interval, int group) {
  std::vector<IndexEntry> entries;
  for (std::size_t b = 0; b < blocks.bits.size(); ++b) {
    const int in_interval = static_cast<int>(b) % interval;
    if (in_interval % group == 0) entries.push_back({0, 0});
    entries.back().bits = static_cast<std::uint16_t>(entries.back().bits + blocks.bits[b]);
    entries.back().pairs = static_cast<std::uint16_t>(entries.back().pairs + blocks.pairs[b]);
  }
  return entries;
}

TEST(GroupIndex, CountsBitsAndPairsOfEveryGroup) {
  constexpr IndexEntry kUntouched{0xABCD, 0xABCD};
  for (const int count : {0, 1, 5, 24, 25, 400}) {
    const CodedBlocks blocks = random_blocks(count, 3);
    for (const int interval : {1, 3, 24, 30, 100, 1000})
      for (const int group : {1, 2, 3, 24, 39}) {
        const auto expected = expected_entries(blocks, interval, group);
        std::vector<IndexEntry> entries(expected.size() + 1, kUntouched);
        const GroupIndexArgs args{count,
                                  interval,
                                  group,
                                  blocks.symbols.data(),
                                  blocks.first.data(),
                                  blocks.code_bits.data(),
                                  entries.data()};
        ASSERT_EQ(group_count(args), static_cast<std::int64_t>(expected.size()));
        Exec exec;
        ASSERT_TRUE(group_index_cpu(args, exec).is_ok());
        ASSERT_EQ(entries.back(), kUntouched);
        entries.pop_back();
        ASSERT_EQ(entries, expected) << count << " " << interval << " " << group;
      }
  }
}

TEST(GroupIndex, TheLargestGroupFits) {
  CodedBlocks blocks;
  for (int b = 0; b < kMaxIndexGroupBlocks; ++b) {
    blocks.bits.push_back(0);
    blocks.append(11, 0, 27);
    for (int k = 1; k < 64; ++k) blocks.append(0x0A, 2, 26);
    blocks.first.push_back(static_cast<std::uint32_t>(blocks.symbols.size()));
  }
  IndexEntry entry{};
  Exec exec;
  ASSERT_TRUE(
      group_index_cpu({kMaxIndexGroupBlocks, 1000, kMaxIndexGroupBlocks, blocks.symbols.data(),
                       blocks.first.data(), blocks.code_bits.data(), &entry},
                      exec)
          .is_ok());
  EXPECT_EQ(entry.bits, 39 * (27 + 63 * 26));
  EXPECT_EQ(entry.pairs, 39 * 64);
}

}  // namespace
}  // namespace zerorun::test
