// CPU and CUDA add up the same DC coefficients.
// SPDX-License-Identifier: MIT
#include "codec/decode/dc_predict.hpp"

#include "tests/cuda/stages/stage_runner.hpp"
#include "tests/support/test_frame.hpp"

namespace zerorun::test {
namespace {

void expect_same(const ScanLayout& layout, std::int64_t first_mcu, std::int64_t mcus, int largest,
                 std::uint64_t seed) {
  SCOPED_TRACE(testing::Message() << "MCUs " << first_mcu << " + " << mcus << ", restart "
                                  << layout.restart_interval);
  Random random(seed);
  const auto blocks = static_cast<std::size_t>(mcus * layout.blocks_per_mcu);
  std::vector<std::int16_t> diff(blocks), coefficients(blocks * kBlockSize, 77);
  for (auto& d : diff) d = static_cast<std::int16_t>(random.between(-largest, largest));
  std::vector<std::int16_t> carry{-3, 32767, 1234};
  DeviceArray<std::int16_t> d_diff(diff), d_coefficients(coefficients), d_carry(carry);
  run_cpu(cpu_stages().dc_predict,
          {layout, first_mcu, mcus, diff.data(), coefficients.data(), carry.data()});
  CudaRunner run;
  run(cuda_stages().dc_predict,
      {layout, first_mcu, mcus, d_diff.data(), d_coefficients.data(), d_carry.data()});
  ASSERT_EQ(d_carry.to_host(), carry);
  ASSERT_EQ(d_coefficients.to_host(), coefficients);
}

class DcPredictParity : public GpuTest {};

TEST_F(DcPredictParity, EverySamplingAndInterval) {
  for (const Subsampling sampling : kAllSubsamplings)
    for (const int restart : {0, 1, 2, 7, 100, 1000, 65535}) {
      const ScanLayout layout = layout_for(sampling, 640, 333, restart);
      expect_same(layout, 0, layout.mcus(), 2047, 1);
      expect_same(layout, 5, layout.mcus() - 9, 32767, 2);  // sums wrap
    }
}

TEST_F(DcPredictParity, EveryCount) {
  const ScanLayout layout = layout_for(Subsampling::s420, 4000, 3000, 300);
  for (const std::int64_t mcus : {0, 1, 2, 255, 256, 257, 1023, 4097, 40000})
    expect_same(layout, 299, mcus, 32767, 3);
}

}  // namespace
}  // namespace zerorun::test
