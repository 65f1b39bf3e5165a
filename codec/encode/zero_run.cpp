// CPU reference of the zero-run stage. CUDA twin: cuda/encode/zero_run.cu.
// SPDX-License-Identifier: MIT
#include "codec/encode/zero_run.hpp"

#include <bit>

#include "codec/core/nonzero_mask.hpp"

namespace zerorun {
namespace {

/// Codes one block (T.81 Figure F.2), jumping from one non-zero coefficient to the next.
Symbol* code_block(const std::int16_t* zz, std::int16_t diff, int dc_table, int ac_table,
                   Symbol* out) {
  *out++ = make_symbol(0, diff, dc_table);
  int last = 0;  // zig-zag index of the last coded coefficient
  for (std::uint64_t rest = nonzero_mask(zz) & ~std::uint64_t{1}; rest != 0; rest &= rest - 1) {
    const int k = std::countr_zero(rest);
    int run = k - last - 1;
    for (; run > 15; run -= 16) *out++ = {kZrl, static_cast<std::uint8_t>(ac_table), 0};
    *out++ = make_symbol(run, zz[k], ac_table);
    last = k;
  }
  if (last < kBlockSize - 1) *out++ = {kEob, static_cast<std::uint8_t>(ac_table), 0};
  return out;
}

}  // namespace

Status zero_run_cpu(const ZeroRunArgs& a, Exec&) {
  Symbol* out = a.symbols;
  std::int32_t in_mcu = 0;
  for (std::int64_t b = 0; b < a.blocks; ++b) {
    a.block_first_symbol[b] = static_cast<std::uint32_t>(out - a.symbols);
    const auto& component = a.layout.component[a.layout.block_component[in_mcu]];
    out = code_block(a.zz + b * kBlockSize, a.diff[b], component.dc_table, 2 + component.ac_table,
                     out);
    if (++in_mcu == a.layout.blocks_per_mcu) in_mcu = 0;
  }
  a.block_first_symbol[a.blocks] = static_cast<std::uint32_t>(out - a.symbols);
  return Status::ok();
}

}  // namespace zerorun
