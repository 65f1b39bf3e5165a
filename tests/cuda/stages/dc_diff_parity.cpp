// CPU and CUDA give the same DC differences.
// SPDX-License-Identifier: MIT
#include "codec/encode/dc_diff.hpp"

#include "tests/cuda/stages/stage_runner.hpp"
#include "tests/support/test_frame.hpp"

namespace zerorun::test {
namespace {

class DcDiffParity : public GpuTest {};

TEST_F(DcDiffParity, EverySamplingAndInterval) {
  for (const Subsampling sampling : kAllSubsamplings)
    for (const int restart : {0, 1, 2, 7, 1000}) {
      const ScanLayout layout = layout_for(sampling, 300, 170, restart);
      for (const std::int64_t first : {std::int64_t{0}, std::int64_t{5}}) {
        SCOPED_TRACE(testing::Message()
                     << name(sampling) << ", restart " << restart << ", from MCU " << first);
        const std::int64_t mcus = layout.mcus() - first;
        const std::int64_t blocks = mcus * layout.blocks_per_mcu;
        // The MCU before a part lies in front of it.
        const std::int64_t lead = first == 0 ? 0 : layout.blocks_per_mcu;
        auto zz = hard_blocks(blocks + lead, 5);
        for (std::int64_t b = 0; b < blocks + lead; b += 3)  // the largest differences
          zz[static_cast<std::size_t>(b * kBlockSize)] = b % 2 == 0 ? 1023 : -1024;
        std::vector<std::int16_t> expected(static_cast<std::size_t>(blocks));
        run_cpu(cpu_stages().dc_diff,
                {layout, first, mcus, zz.data() + lead * kBlockSize, expected.data()});
        DeviceArray<std::int16_t> d_zz(zz);
        DeviceArray<std::int16_t> diff(expected.size());
        CudaRunner run;
        run(cuda_stages().dc_diff,
            {layout, first, mcus, d_zz.data() + lead * kBlockSize, diff.data()});
        ASSERT_EQ(diff.to_host(), expected);
      }
    }
}

TEST_F(DcDiffParity, NoMcus) {
  DeviceArray<std::int16_t> zz(0), diff(0);
  CudaRunner run;
  run(cuda_stages().dc_diff,
      {layout_for(Subsampling::s420, 16, 16, 0), 0, 0, zz.data(), diff.data()});
  diff.to_host();
}

}  // namespace
}  // namespace zerorun::test
