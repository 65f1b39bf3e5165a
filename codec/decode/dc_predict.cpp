// CPU reference of DC prediction. CUDA twin: cuda/stages/dc_predict.cu.
// SPDX-License-Identifier: MIT
#include "codec/decode/dc_predict.hpp"

#include <algorithm>

namespace zerorun {

Status dc_predict_cpu(const DcPredictArgs& a, Exec&) {
  const std::int64_t interval = a.layout.interval_mcus();
  const std::int16_t* diff = a.diff;
  std::int16_t* block = a.coefficients;
  std::int64_t in_interval = a.first_mcu % interval;
  for (std::int64_t m = 0; m < a.mcu_count; ++m) {
    if (in_interval == 0) std::fill_n(a.carry, a.layout.components, std::int16_t{0});
    if (++in_interval == interval) in_interval = 0;
    for (int i = 0; i < a.layout.blocks_per_mcu; ++i, block += kBlockSize) {
      std::int16_t& dc = a.carry[a.layout.block_component[i]];
      dc = static_cast<std::int16_t>(dc + *diff++);
      block[0] = dc;
    }
  }
  return Status::ok();
}

}  // namespace zerorun
