// CPU reference of DC differences. CUDA twin: cuda/stages/dc_diff.cu.
// SPDX-License-Identifier: MIT
#include "codec/encode/dc_diff.hpp"

namespace zerorun {

Status dc_diff_cpu(const DcDiffArgs& a, Exec&) {
  const std::int64_t interval = a.layout.interval_mcus();
  const std::int32_t per_mcu = a.layout.blocks_per_mcu;
  for (std::int64_t m = 0; m < a.mcu_count; ++m) {
    const bool interval_starts = (a.first_mcu + m) % interval == 0;
    for (std::int32_t i = 0; i < per_mcu; ++i) {
      const PreviousBlock previous = previous_block(a.layout, i);
      const std::int64_t before = (m - previous.wraps) * per_mcu + previous.index;
      const int prediction = previous.wraps && interval_starts ? 0 : a.zz[before * kBlockSize];
      const std::int64_t b = m * per_mcu + i;
      a.diff[b] = static_cast<std::int16_t>(a.zz[b * kBlockSize] - prediction);
    }
  }
  return Status::ok();
}

}  // namespace zerorun
