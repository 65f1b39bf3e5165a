// Encode stage 2: samples -> quantised blocks. Inverse: dequant_idct.
// SPDX-License-Identifier: MIT
#pragma once

#include "codec/arith/quant.hpp"
#include "codec/arith/tune.hpp"
#include "codec/arith/zigzag.hpp"
#include "codec/base/exec.hpp"
#include "codec/syntax/scan_layout.hpp"

namespace zerorun {

/// Divisors of the two tables, natural order, luma then chroma.
struct DivisorTables {
  Divisor table[2][kBlockSize];
};

/// Right of and below a plane's valid part its last column and row are repeated. Blocks that hold
/// no sample (MCU padding) get the DC of the previous block in the MCU and no AC. With active rules
/// AC coefficients are decided by arith/tune.hpp; DC is always rounded. Rules may say that clipped
/// samples are moved (overshoot_of()) before the transform.
struct FdctQuantArgs {
  ScanLayout layout;
  ConstPlaneView plane[kMaxComponents];
  const DivisorTables* divisors;  ///< component 0 uses the first table, the others the second
  std::int64_t first_mcu, mcu_count;
  std::int16_t* zz;  ///< [mcu_count * blocks_per_mcu][64] out: zig-zag order, scan order; CUDA:
                     ///< aligned to 16
  const TuneRules* tune = nullptr;  ///< null: all coefficients are rounded
};

Status fdct_quant_cpu(const FdctQuantArgs& args, Exec& exec);
Status fdct_quant_cuda(const FdctQuantArgs& args, Exec& exec);

}  // namespace zerorun
