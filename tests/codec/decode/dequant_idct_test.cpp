// The CPU stage against the definitions of codec/arith, with libjpeg's 32 bits between the passes.
// SPDX-License-Identifier: MIT
#include "codec/decode/dequant_idct.hpp"

#include <gtest/gtest.h>

#include <array>

#include "codec/arith/dct8.hpp"
#include "codec/arith/quant.hpp"
#include "codec/pipeline/stage_table.hpp"
#include "tests/support/random.hpp"

namespace zerorun::test {
namespace {

using Samples = std::array<std::uint8_t, kBlockSize>;
using Block = std::array<std::int16_t, kBlockSize>;  // natural order

Samples by_definition(const Block& block, const DequantTables& tables) {
  std::int32_t work[8][8];
  for (int x = 0; x < 8; ++x) {
    std::uint64_t column[8];
    for (int y = 0; y < 8; ++y) {
      const auto at = static_cast<std::size_t>(8 * y + x);
      column[y] =
          static_cast<std::uint64_t>(std::int64_t{dequantise(block[at], tables.table[0][at])});
    }
    idct8<1>(column);
    for (int y = 0; y < 8; ++y) work[y][x] = static_cast<std::int32_t>(column[y]);
  }
  Samples samples;
  for (int y = 0; y < 8; ++y) {
    std::uint64_t row[8];
    for (int x = 0; x < 8; ++x) row[x] = static_cast<std::uint64_t>(std::int64_t{work[y][x]});
    idct8<2>(row);
    for (int x = 0; x < 8; ++x)
      samples[static_cast<std::size_t>(8 * y + x)] =
          limit_sample(static_cast<std::uint32_t>(row[x]));
  }
  return samples;
}

Samples by_stage(const Block& block, const DequantTables& tables) {
  const ComponentSpec spec{};
  const int only = 0;
  Samples samples{};
  DequantIdctArgs args{
      make_scan_layout(8, 8, &spec, 1, &only, 1, 0), &tables, 0, 1, block.data(), {}};
  args.plane[0] = {samples.data(), 8, 8, 8};
  Exec exec;
  EXPECT_TRUE(cpu_stages().dequant_idct(args, exec));
  return samples;
}

DequantTables flat_table(int q) {
  DequantTables tables;
  for (auto& table : tables.table) std::fill_n(table, kBlockSize, static_cast<std::uint16_t>(q));
  return tables;
}

/// Every DC, for factors that reach the ends of 16 x 16 bits.
TEST(DequantIdct, EveryDc) {
  for (const int q : {1, 2, 255, 32767, 32768, 65535}) {
    const DequantTables tables = flat_table(q);
    for (int dc = -32768; dc <= 32767; ++dc) {
      Block block{};
      block[0] = static_cast<std::int16_t>(dc);
      ASSERT_EQ(by_stage(block, tables), by_definition(block, tables)) << dc << " x " << q;
    }
  }
}

/// Values on either side of kMaxNarrowCoefficient, alone in each place and all over the block. Test
/// of the other instruction sets: FastTransform.InverseEqualsTheReference.
TEST(DequantIdct, StageIsTheDefinition) {
  const DequantTables plain = flat_table(1), large = flat_table(32767);
  for (std::size_t at = 0; at < kBlockSize; ++at)
    for (const int value : {-32768, -32767, -1024, -1, 1, 1023, 32766, 32767}) {
      Block block{};
      block[at] = static_cast<std::int16_t>(value);
      ASSERT_EQ(by_stage(block, plain), by_definition(block, plain)) << at << ": " << value;
      ASSERT_EQ(by_stage(block, large), by_definition(block, large)) << at << ": " << value;
    }
  Random random(3);
  for (int round = 0; round < 20000; ++round) {
    Block block{};
    const int density = random.between(1, 64), bits = random.between(1, 16);
    for (auto& value : block)
      if (static_cast<int>(random.below(64)) < density)
        value = static_cast<std::int16_t>(
            round % 2 == 0 ? (random.below(2) == 0 ? -(1 << (bits - 1)) : (1 << (bits - 1)) - 1)
                           : random.between(-(1 << (bits - 1)), (1 << (bits - 1)) - 1));
    const int q = round % 3 == 0 ? 1 : random.between(1, round % 3 == 1 ? 255 : 65535);
    const DequantTables tables = flat_table(q);
    ASSERT_EQ(by_stage(block, tables), by_definition(block, tables)) << "round " << round;
  }
}

}  // namespace
}  // namespace zerorun::test
