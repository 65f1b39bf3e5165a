// CPU and CUDA give the same symbols for every kind of block.
// SPDX-License-Identifier: MIT
#include "codec/encode/zero_run.hpp"

#include "tests/cuda/stages/stage_runner.hpp"
#include "tests/support/test_frame.hpp"

namespace zerorun::test {
namespace {

void expect_same_symbols(const ScanLayout& layout, std::int64_t blocks,
                         const std::vector<std::int16_t>& zz) {
  Random random(17);
  std::vector<std::int16_t> diff(static_cast<std::size_t>(blocks));
  for (auto& d : diff) d = static_cast<std::int16_t>(random.between(-2047, 2047));
  std::vector<Symbol> symbols(static_cast<std::size_t>(blocks) * kBlockSize);
  std::vector<std::uint32_t> first(static_cast<std::size_t>(blocks) + 1, 99);
  run_cpu(cpu_stages().zero_run,
          {layout, blocks, zz.data(), diff.data(), symbols.data(), first.data()});

  DeviceArray<std::int16_t> d_zz(zz), d_diff(diff);
  // Exactly as many as there are: one too many would hit the canary.
  DeviceArray<Symbol> d_symbols(first.back());
  DeviceArray<std::uint32_t> d_first(first.size());
  CudaRunner run;
  run(cuda_stages().zero_run,
      {layout, blocks, d_zz.data(), d_diff.data(), d_symbols.data(), d_first.data()});
  ASSERT_EQ(d_first.to_host(), first);
  ASSERT_EQ(d_symbols.to_host(), head(symbols, first.back()));
}

class ZeroRunParity : public GpuTest {};

TEST_F(ZeroRunParity, EveryKindOfBlock) {
  for (const Subsampling sampling : kAllSubsamplings) {
    SCOPED_TRACE(name(sampling));
    const ScanLayout layout = layout_for(sampling, 800, 600, 0);
    expect_same_symbols(layout, layout.blocks(), hard_blocks(layout.blocks(), 1));
  }
}

TEST_F(ZeroRunParity, EverySize) {
  const ScanLayout layout = layout_for(Subsampling::gray, 800, 600, 0);
  for (const std::int64_t blocks : {0, 1, 7, 8, 9, 31, 33, 200, 1021, 4096}) {
    SCOPED_TRACE(blocks);
    expect_same_symbols(layout, blocks, hard_blocks(blocks, 2));
  }
}

TEST_F(ZeroRunParity, DcCoefficientIsNotRead) {
  const ScanLayout layout = layout_for(Subsampling::gray, 80, 80, 0);
  auto zz = hard_blocks(100, 3);
  for (std::size_t b = 0; b < 100; ++b) zz[b * kBlockSize] = 0;
  expect_same_symbols(layout, 100, zz);
}

TEST_F(ZeroRunParity, LargestAmplitudes) {
  const ScanLayout layout = layout_for(Subsampling::gray, 80, 80, 0);
  std::vector<std::int16_t> zz(100 * kBlockSize);
  Random random(4);
  for (auto& value : zz) value = value_of_category(random, random.between(1, 15));
  expect_same_symbols(layout, 100, zz);
}

}  // namespace
}  // namespace zerorun::test
