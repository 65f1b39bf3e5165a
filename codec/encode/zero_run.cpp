// CPU reference of the zero-run stage. CUDA twin: cuda/stages/zero_run.cu.
// SPDX-License-Identifier: MIT
#include "codec/encode/zero_run.hpp"

#include <bit>

#include "codec/base/multiversion.hpp"
#include "codec/base/nonzero_mask.hpp"

namespace zerorun {
namespace {

/// make_symbol() for a value that is not 0, built in one register and stored at once.
/// Test: ZeroRun.EveryValueRunAndTable.
ZR_HD Symbol coefficient_symbol(int run, std::int32_t value, std::uint32_t table) {
  const std::int32_t sign = value >> 31;  // 0 or -1
  const auto magnitude = static_cast<std::uint32_t>((value ^ sign) - sign);
  const auto ssss = static_cast<std::uint32_t>(std::bit_width(magnitude));
  const std::uint32_t appended = static_cast<std::uint32_t>(value + sign) & ((1u << ssss) - 1);
  if constexpr (std::endian::native == std::endian::little)
    return std::bit_cast<Symbol>(static_cast<std::uint32_t>(run) << 4 | ssss | table << 8 |
                                 appended << 16);
  return make_symbol(run, value, static_cast<int>(table));
}

/// Codes one block (T.81 Figure F.2), jumping from one non-zero coefficient to the next.
ZR_HD Symbol* code_block(const std::int16_t* zz, std::int16_t diff, int dc_table, int ac_table,
                         Symbol* out) {
  *out++ = make_symbol(0, diff, dc_table);
  int last = 0;  // zig-zag index of the last coded coefficient
  for (std::uint64_t rest = nonzero_mask(zz) & ~std::uint64_t{1}; rest != 0; rest &= rest - 1) {
    const int k = std::countr_zero(rest);
    int run = k - last - 1;
    for (; run > 15; run -= 16) *out++ = {kZrl, static_cast<std::uint8_t>(ac_table), 0};
    *out++ = coefficient_symbol(run, zz[k], static_cast<std::uint32_t>(ac_table));
    last = k;
  }
  if (last < kBlockSize - 1) *out++ = {kEob, static_cast<std::uint8_t>(ac_table), 0};
  return out;
}

ZR_MULTIVERSION void code_blocks(const ZeroRunArgs& a) {
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
}

}  // namespace

Status zero_run_cpu(const ZeroRunArgs& args, Exec&) {
  code_blocks(args);
  return Status::ok();
}

}  // namespace zerorun
