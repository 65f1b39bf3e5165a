// CPU reference of block run-length decode. CUDA twin: cuda/stages/zero_run_expand.cu.
// SPDX-License-Identifier: MIT
#include "codec/decode/zero_run_expand.hpp"

#include <cstring>

namespace zerorun {

Status zero_run_expand_cpu(const ZeroRunExpandArgs& a, Exec&) {
  for (std::int64_t b = 0; b < a.blocks; ++b) {
    const RunLevel* pairs = a.pairs + b * kBlockSize;
    std::int16_t* block = a.coefficients + b * kBlockSize;
    std::memset(block, 0, kBlockSize * sizeof *block);
    a.diff[b] = pairs[0].level;
    unsigned k = 1;
    for (int i = 1; i < a.pair_count[b]; ++i) {
      k += pairs[i].run;
      block[kNaturalOfZigzag[k++]] = pairs[i].level;
    }
  }
  return Status::ok();
}

}  // namespace zerorun
