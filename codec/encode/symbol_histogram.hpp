// Side stage of the encoder: frequencies of the symbols, for optimal tables (T.81 K.2).
// SPDX-License-Identifier: MIT
#pragma once

#include "codec/arith/symbol.hpp"
#include "codec/base/exec.hpp"

namespace zerorun {

struct SymbolCounts {
  std::uint32_t count[kEncodeTables][256];
};

struct SymbolHistogramArgs {
  const Symbol* symbols;
  const std::uint32_t* symbol_total;  ///< one number: the number of symbols
  std::int64_t symbol_capacity;       ///< its upper bound, known to the host
  SymbolCounts* counts;               ///< added to
};

Status symbol_histogram_cpu(const SymbolHistogramArgs& args, Exec& exec);
Status symbol_histogram_cuda(const SymbolHistogramArgs& args, Exec& exec);

}  // namespace zerorun
