// CPU reference of the zero-run stage. CUDA twin: cuda/stages/zero_run.cu.
// SPDX-License-Identifier: MIT
#include "codec/encode/zero_run.hpp"

namespace zerorun {
namespace {

/// Codes one block (T.81 Figures F.1 and F.2).
Symbol* code_block(const std::int16_t* zz, std::int16_t diff, int dc_table, int ac_table,
                   Symbol* out) {
  *out++ = make_symbol(0, diff, dc_table);
  int run = 0;  // zeros before coefficient k
  for (int k = 1; k < kBlockSize; ++k) {
    if (zz[k] == 0) {
      ++run;
      continue;
    }
    for (; run > 15; run -= 16) *out++ = {kZrl, static_cast<std::uint8_t>(ac_table), 0};
    *out++ = make_symbol(run, zz[k], ac_table);
    run = 0;
  }
  if (run > 0) *out++ = {kEob, static_cast<std::uint8_t>(ac_table), 0};
  return out;
}

}  // namespace

Status zero_run_cpu(const ZeroRunArgs& a, Exec&) {
  Symbol* out = a.symbols;
  for (std::int64_t b = 0; b < a.blocks; ++b) {
    a.block_first_symbol[b] = static_cast<std::uint32_t>(out - a.symbols);
    const auto& component =
        a.layout.component[a.layout.block_component[b % a.layout.blocks_per_mcu]];
    out = code_block(a.zz + b * kBlockSize, a.diff[b], component.dc_table, 2 + component.ac_table,
                     out);
  }
  a.block_first_symbol[a.blocks] = static_cast<std::uint32_t>(out - a.symbols);
  return Status::ok();
}

}  // namespace zerorun
