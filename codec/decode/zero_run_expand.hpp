// Decode stage 4: (run, level) pairs -> blocks. Inverse: zero_run.
// SPDX-License-Identifier: MIT
#pragma once

#include "codec/arith/symbol.hpp"
#include "codec/arith/zigzag.hpp"
#include "codec/base/exec.hpp"

namespace zerorun {

/// Runs stay inside their block: huffman_decode checks them.
struct ZeroRunExpandArgs {
  std::int64_t blocks;
  const RunLevel* pairs;           ///< [blocks][64]
  const std::uint8_t* pair_count;  ///< [blocks]
  std::int16_t* coefficients;      ///< [blocks][64] out: natural order; [b][0] is 0. CUDA: 16-byte
                                   ///< aligned
  std::int16_t* diff;              ///< [blocks] out
};

Status zero_run_expand_cpu(const ZeroRunExpandArgs& args, Exec& exec);
Status zero_run_expand_cuda(const ZeroRunExpandArgs& args, Exec& exec);

}  // namespace zerorun
