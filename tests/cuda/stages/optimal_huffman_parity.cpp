// The device builds the same optimal tables as the host.
// SPDX-License-Identifier: MIT
#include "cuda/stages/stages_cuda.hpp"

#include <algorithm>

#include "tests/cuda/stages/stage_runner.hpp"

namespace zerorun::test {
namespace {

/// All four tables, in every length, value and codeword.
void expect_same_tables(const SymbolCounts& counts) {
  DeviceArray<SymbolCounts> d_counts(std::vector<SymbolCounts>{counts});
  DeviceArray<HuffmanSpec> d_specs(kEncodeTables);
  DeviceArray<HuffmanEncodeTables> d_tables(1);
  CudaRunner run;
  const Status status =
      optimal_huffman_cuda(d_counts.data(), d_specs.data(), d_tables.data(), run.exec());
  ASSERT_TRUE(status) << status.message();
  const auto specs = d_specs.to_host();
  const auto tables = d_tables.to_host();
  HuffmanEncodeTables expected;
  for (int t = 0; t < kEncodeTables; ++t) {
    SCOPED_TRACE(testing::Message() << "table " << t);
    const HuffmanSpec spec = optimal_huffman_spec(counts.count[t]);
    const HuffmanSpec& found = specs[static_cast<std::size_t>(t)];
    ASSERT_EQ(found.bits, spec.bits);
    ASSERT_EQ(found.values, spec.values);
    fill_encode_table(spec, t, expected);
    for (int s = 0; s < 256; ++s) {
      ASSERT_EQ(tables[0].code[t][s], expected.code[t][s]) << "symbol " << s;
      ASSERT_EQ(tables[0].bits[t][s], expected.bits[t][s]) << "symbol " << s;
    }
  }
}

class OptimalHuffmanParity : public GpuTest {};

TEST_F(OptimalHuffmanParity, NoSymbolsAndFew) {
  SymbolCounts counts{};
  expect_same_tables(counts);
  counts.count[0][0] = 1;
  counts.count[1][255] = 0xFFFFFFFF;
  counts.count[2][0] = counts.count[2][255] = 1;
  counts.count[3][7] = 5;
  counts.count[3][8] = 1;
  expect_same_tables(counts);
}

TEST_F(OptimalHuffmanParity, EqualCountsOfEveryNumber) {
  for (int used = 1; used <= 256; ++used) {
    SCOPED_TRACE(used);
    SymbolCounts counts{};
    for (int t = 0; t < kEncodeTables; ++t)
      for (int i = 0; i < used; ++i)
        counts.count[t][t % 2 == 0 ? i : 255 - i] = t < 2 ? 1u : 0xFFFFFFFFu;
    expect_same_tables(counts);
  }
}

TEST_F(OptimalHuffmanParity, CodesLongerThanSixteenBits) {
  SymbolCounts counts{};
  std::uint32_t fibonacci[2] = {1, 1};
  for (int i = 0; i < 46; ++i) {  // up to 2^31: a code of 46 bits before limiting
    for (int t = 0; t < kEncodeTables; ++t)
      counts.count[t][(i * (2 * t + 1) + t) % 256] = fibonacci[0];
    const std::uint32_t next = fibonacci[0] + fibonacci[1];
    fibonacci[0] = fibonacci[1];
    fibonacci[1] = next;
  }
  expect_same_tables(counts);
  for (int t = 0; t < kEncodeTables; ++t)  // powers of two, and many singles below them
    for (int i = 0; i < 256; ++i) counts.count[t][i] = i < 32 ? 1u << i : t % 2 == 0 ? 1u : 0u;
  expect_same_tables(counts);
}

/// From a sum of 2^23 on a count and the number of a symbol do not fit in 32 bits.
TEST_F(OptimalHuffmanParity, SumsWhereKeysGetLonger) {
  Random random(22);
  for (int round = 0; round < 100; ++round) {
    SCOPED_TRACE(round);
    SymbolCounts counts{};
    for (auto& table : counts.count) {
      auto left = static_cast<std::uint32_t>((1 << 23) - 4 + random.between(0, 6));
      const int used = random.between(1, 255);
      for (int i = 1; i <= used; ++i) {
        const auto most = static_cast<int>(left) / random.between(1, used) - 256;
        table[i] = static_cast<std::uint32_t>(random.between(1, std::max(1, most)));
        left -= table[i];
      }
      table[round % 2 == 0 ? 0 : used] += left;
    }
    expect_same_tables(counts);
  }
}

TEST_F(OptimalHuffmanParity, RandomCounts) {
  Random random(21);
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE(round);
    SymbolCounts counts{};
    for (auto& table : counts.count) {
      const int used = random.between(1, 256), bits = random.between(1, 31);
      for (int i = 0; i < used; ++i)
        table[random.below(256)] =
            static_cast<std::uint32_t>(random.next() >> (64 - random.between(1, bits)));
    }
    expect_same_tables(counts);
  }
}

}  // namespace
}  // namespace zerorun::test
