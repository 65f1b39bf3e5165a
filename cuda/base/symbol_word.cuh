// A Symbol as the one 32-bit word that it occupies: one access instead of three.
// SPDX-License-Identifier: MIT
#pragma once

#include "codec/arith/symbol.hpp"

namespace zerorun {

static_assert(sizeof(Symbol) == 4 && alignof(Symbol) == 4);

__device__ __forceinline__ void store_symbol(Symbol* out, Symbol symbol) {
  *reinterpret_cast<std::uint32_t*>(out) = std::uint32_t{symbol.rrrrssss} |
                                           std::uint32_t{symbol.table} << 8 |
                                           std::uint32_t{symbol.appended} << 16;
}

__device__ __forceinline__ Symbol load_symbol(const Symbol* in) {
  const std::uint32_t word = *reinterpret_cast<const std::uint32_t*>(in);
  return {static_cast<std::uint8_t>(word), static_cast<std::uint8_t>(word >> 8),
          static_cast<std::uint16_t>(word >> 16)};
}

}  // namespace zerorun
