// CPU reference of bit packing. CUDA twin: cuda/stages/bit_pack.cu.
// SPDX-License-Identifier: MIT
#include "codec/encode/bit_pack.hpp"

#include <algorithm>

#include "codec/encode/bit_state.hpp"

namespace zerorun {

Status bit_pack_cpu(const BitPackArgs& a, Exec&) {
  BitState state{a.bytes};
  std::int64_t interval = 0;
  for (std::int64_t b = 0; b < a.blocks; b += a.interval_blocks, ++interval) {
    const std::uint8_t* const begin = state.out;
    a.interval_first_byte[interval] = static_cast<std::uint64_t>(begin - a.bytes);
    const std::int64_t end = std::min(b + a.interval_blocks, a.blocks);
    for (std::uint32_t s = a.block_first_symbol[b]; s < a.block_first_symbol[end]; ++s)
      state.put(a.code[s], a.code_bits[s]);
    a.interval_bits[interval] = state.bits_since(begin);
    state.flush(~std::uint64_t{0});
  }
  a.interval_first_byte[interval] = static_cast<std::uint64_t>(state.out - a.bytes);
  return Status::ok();
}

}  // namespace zerorun
