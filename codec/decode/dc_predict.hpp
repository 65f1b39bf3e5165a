// Decode stage 5: DIFF -> DC (T.81 F.2.1.3.1). Inverse: dc_diff.
// SPDX-License-Identifier: MIT
#pragma once

#include "codec/arith/zigzag.hpp"
#include "codec/base/exec.hpp"
#include "codec/syntax/scan_layout.hpp"

namespace zerorun {

/// Sums wrap to 16 bits. The prediction is 0 at the start of a restart interval; if first_mcu lies
/// inside an interval, it is `carry`.
struct DcPredictArgs {
  ScanLayout layout;
  std::int64_t first_mcu, mcu_count;
  const std::int16_t* diff;    ///< [mcu_count * blocks_per_mcu]
  std::int16_t* coefficients;  ///< [mcu_count * blocks_per_mcu][64]; [b][0] out
  std::int16_t* carry;         ///< in/out: the last DC of each component of the scan
};

Status dc_predict_cpu(const DcPredictArgs& args, Exec& exec);
Status dc_predict_cuda(const DcPredictArgs& args, Exec& exec);

}  // namespace zerorun
