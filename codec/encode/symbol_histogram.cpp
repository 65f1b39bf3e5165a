// CPU reference of the symbol statistics. CUDA twin: cuda/stages/symbol_histogram.cu.
// SPDX-License-Identifier: MIT
#include "codec/encode/symbol_histogram.hpp"

namespace zerorun {

Status symbol_histogram_cpu(const SymbolHistogramArgs& a, Exec&) {
  for (std::uint32_t i = 0; i < *a.symbol_total; ++i)
    ++a.counts->count[a.symbols[i].table][a.symbols[i].rrrrssss];
  return Status::ok();
}

}  // namespace zerorun
