// CPU and CUDA expand (run, level) pairs to the same blocks.
// SPDX-License-Identifier: MIT
#include "codec/decode/zero_run_expand.hpp"

#include "tests/cuda/stages/stage_runner.hpp"

namespace zerorun::test {
namespace {

struct Pairs {
  std::vector<RunLevel> pairs;
  std::vector<std::uint8_t> count;
};

/// Blocks as their pairs; ZRL for runs of 16 and more. Unused places of a row hold what must not be
/// read.
Pairs pairs_of(const std::vector<std::int16_t>& zz) {
  Pairs out;
  const std::size_t blocks = zz.size() / kBlockSize;
  out.pairs.assign(zz.size(), {12345, 77, 0});
  for (std::size_t b = 0; b < blocks; ++b) {
    RunLevel* row = out.pairs.data() + b * kBlockSize;
    std::uint8_t n = 0, run = 0;
    row[n++] = {zz[b * kBlockSize], 0, 0};
    for (std::size_t k = 1; k < kBlockSize; ++k) {
      const std::int16_t level = zz[b * kBlockSize + k];
      if (level == 0 && run < 15) {
        ++run;
        continue;
      }
      row[n++] = {level, run, 0};
      run = 0;
    }
    // Trailing zeros need no pair; every other block keeps its trailing ZRLs.
    while (b % 2 == 0 && n > 1 && row[n - 1].level == 0) row[--n] = {12345, 77, 0};
    out.count.push_back(n);
  }
  return out;
}

void expect_same(const Pairs& in) {
  const auto blocks = static_cast<std::int64_t>(in.count.size());
  std::vector<std::int16_t> coefficients(in.pairs.size()), diff(in.count.size());
  run_cpu(cpu_stages().zero_run_expand,
          {blocks, in.pairs.data(), in.count.data(), coefficients.data(), diff.data()});
  DeviceArray<RunLevel> d_pairs(in.pairs);
  DeviceArray<std::uint8_t> d_count(in.count);
  DeviceArray<std::int16_t> d_coefficients(coefficients.size()), d_diff(diff.size());
  CudaRunner run;
  run(cuda_stages().zero_run_expand,
      {blocks, d_pairs.data(), d_count.data(), d_coefficients.data(), d_diff.data()});
  ASSERT_EQ(d_diff.to_host(), diff);
  ASSERT_EQ(d_coefficients.to_host(), coefficients);
}

class ZeroRunExpandParity : public GpuTest {};

TEST_F(ZeroRunExpandParity, EverySizeAndKindOfBlock) {
  for (const std::int64_t blocks : {0, 1, 2, 15, 16, 17, 31, 200, 1021, 5000})
    expect_same(pairs_of(hard_blocks(blocks, 11, -2047, 2047)));
}

TEST_F(ZeroRunExpandParity, LargestLevels) {
  Random random(12);
  std::vector<std::int16_t> zz(300 * kBlockSize);
  for (auto& value : zz) value = value_of_category(random, 15);
  expect_same(pairs_of(zz));
}

TEST_F(ZeroRunExpandParity, SixtyFourPairsOfOneZeroEach) {
  Pairs in;
  in.pairs.assign(40 * kBlockSize, {0, 0, 0});
  in.count.assign(40, 64);
  expect_same(in);
}

}  // namespace
}  // namespace zerorun::test
