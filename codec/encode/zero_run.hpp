// Encode stage 4: quantised blocks -> run/size symbols (T.81 F.1.2). Inverse: zero_run_expand.
// SPDX-License-Identifier: MIT
#pragma once

#include "codec/arith/symbol.hpp"
#include "codec/arith/zigzag.hpp"
#include "codec/base/exec.hpp"
#include "codec/syntax/scan_layout.hpp"

namespace zerorun {

/// The symbol array is dense: block b has the symbols block_first_symbol[b] up to [b + 1].
struct ZeroRunArgs {
  ScanLayout layout;
  std::int64_t blocks;                ///< whole MCUs; 0 is valid
  const std::int16_t* zz;             ///< [blocks][64] zig-zag order; zz[b][0] is not read
  const std::int16_t* diff;           ///< [blocks]
  Symbol* symbols;                    ///< out; capacity blocks * 64
  std::uint32_t* block_first_symbol;  ///< [blocks + 1] out
};

Status zero_run_cpu(const ZeroRunArgs& args, Exec& exec);
Status zero_run_cuda(const ZeroRunArgs& args, Exec& exec);

}  // namespace zerorun
