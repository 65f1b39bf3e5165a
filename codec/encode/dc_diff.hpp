// Encode stage 3: DC -> DIFF (T.81 F.1.1.5.1). Inverse: dc_predict.
// SPDX-License-Identifier: MIT
#pragma once

#include "codec/arith/zigzag.hpp"
#include "codec/base/exec.hpp"
#include "codec/syntax/scan_layout.hpp"

namespace zerorun {

/// The prediction is 0 at the start of a restart interval; MCU 0 of the scan starts one.
/// If first_mcu lies inside an interval, the blocks of the MCU before it precede `zz` in memory.
struct DcDiffArgs {
  ScanLayout layout;
  std::int64_t first_mcu, mcu_count;
  const std::int16_t* zz;  ///< [mcu_count * blocks_per_mcu][64]
  std::int16_t* diff;      ///< [mcu_count * blocks_per_mcu] out
};

Status dc_diff_cpu(const DcDiffArgs& args, Exec& exec);
Status dc_diff_cuda(const DcDiffArgs& args, Exec& exec);

}  // namespace zerorun
