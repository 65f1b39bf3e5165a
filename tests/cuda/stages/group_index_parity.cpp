// CPU and CUDA sum up the same groups.
// SPDX-License-Identifier: MIT
#include "codec/encode/group_index.hpp"

#include "tests/cuda/stages/stage_runner.hpp"

namespace zerorun::test {
namespace {

std::vector<std::uint32_t> flat(const std::vector<IndexEntry>& entries) {
  std::vector<std::uint32_t> words;
  for (const IndexEntry& entry : entries)
    words.push_back(std::uint32_t{entry.bits} << 16 | entry.pairs);
  return words;
}

void expect_same_entries(const SymbolArray& coded, const std::vector<std::uint8_t>& code_bits,
                         std::int64_t interval_blocks, std::int64_t group_blocks) {
  const auto blocks = static_cast<std::int64_t>(coded.block_first_symbol.size()) - 1;
  GroupIndexArgs args{blocks,
                      interval_blocks,
                      group_blocks,
                      coded.symbols.data(),
                      coded.block_first_symbol.data(),
                      code_bits.data(),
                      nullptr};
  std::vector<IndexEntry> entries(static_cast<std::size_t>(group_count(args)));
  args.entries = entries.data();
  run_cpu(cpu_stages().group_index, args);

  DeviceArray<Symbol> d_symbols(coded.symbols);
  DeviceArray<std::uint32_t> d_first(coded.block_first_symbol);
  DeviceArray<std::uint8_t> d_code_bits(code_bits);
  DeviceArray<IndexEntry> d_entries(entries.size());
  CudaRunner run;
  run(cuda_stages().group_index, {blocks, interval_blocks, group_blocks, d_symbols.data(),
                                  d_first.data(), d_code_bits.data(), d_entries.data()});
  ASSERT_EQ(flat(d_entries.to_host()), flat(entries));
}

class GroupIndexParity : public GpuTest {};

TEST_F(GroupIndexParity, EveryIntervalAndGroup) {
  const ScanLayout layout = layout_for(Subsampling::s420, 64, 64, 0);
  Random random(5);
  for (const std::int64_t mcus : {0, 1, 5, 64, 501}) {
    const std::int64_t blocks = mcus * layout.blocks_per_mcu;
    const SymbolArray coded = symbols_of(layout, blocks, hard_blocks(blocks, 6), 7);
    std::vector<std::uint8_t> code_bits(coded.symbols.size());
    for (auto& bits : code_bits) bits = static_cast<std::uint8_t>(random.between(1, 26));
    for (const std::int64_t interval : {1, 2, 7, 64, 10000})
      for (const std::int64_t group : {1, 2, 4}) {
        SCOPED_TRACE(testing::Message() << mcus << " MCUs, interval " << interval << ", " << group);
        expect_same_entries(coded, code_bits, interval * layout.blocks_per_mcu,
                            group * layout.blocks_per_mcu);
      }
  }
}

/// 39 blocks of 64 symbols of the greatest length almost fill 16 bits.
TEST_F(GroupIndexParity, TheLargestSums) {
  const ScanLayout layout = layout_for(Subsampling::s444, 64, 64, 0);
  constexpr std::int64_t kBlocks = 39 * 5;
  std::vector<std::int16_t> zz(kBlocks * kBlockSize, 1023);
  const SymbolArray coded = symbols_of(layout, kBlocks, zz, 8);
  std::vector<std::uint8_t> code_bits(coded.symbols.size(), 26);
  for (std::size_t b = 0; b < kBlocks; ++b) code_bits[coded.block_first_symbol[b]] = 27;
  expect_same_entries(coded, code_bits, kBlocks, 39);
}

}  // namespace
}  // namespace zerorun::test
