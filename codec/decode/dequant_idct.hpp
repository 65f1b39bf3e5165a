// Decode stage 6: blocks -> samples. Inverse: fdct_quant.
// SPDX-License-Identifier: MIT
#pragma once

#include "codec/arith/zigzag.hpp"
#include "codec/base/exec.hpp"
#include "codec/syntax/scan_layout.hpp"

namespace zerorun {

struct DequantTables {
  std::uint16_t table[kMaxDecodedComponents][kBlockSize];  ///< one a scan component, natural order
};

/// Blocks that a plane does not hold, samples outside its valid part and of planes without data are
/// not stored.
struct DequantIdctArgs {
  ScanLayout layout;
  const DequantTables* tables;
  std::int64_t first_mcu, mcu_count;
  const std::int16_t* coefficients;  ///< [mcu_count * blocks_per_mcu][64], natural order. CUDA:
                                     ///< 16-byte aligned
  /// Out, one a scan component. CUDA: whole planes, not scaled, at most kMaxComponents.
  PlaneView plane[kMaxDecodedComponents];
};

Status dequant_idct_cpu(const DequantIdctArgs& args, Exec& exec);
Status dequant_idct_cuda(const DequantIdctArgs& args, Exec& exec);

}  // namespace zerorun
