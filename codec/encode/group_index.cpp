// CPU reference of the scan index's entries. CUDA twin: cuda/stages/group_index.cu.
// SPDX-License-Identifier: MIT
#include "codec/encode/group_index.hpp"

namespace zerorun {

Status group_index_cpu(const GroupIndexArgs& a, Exec&) {
  const std::int64_t groups = group_count(a);
  for (std::int64_t g = 0; g < groups; ++g) {
    const GroupBlocks group = blocks_of_group(a, g);
    std::uint32_t bits = 0, pairs = 0;
    for (std::uint32_t s = a.block_first_symbol[group.begin]; s < a.block_first_symbol[group.end];
         ++s) {
      bits += a.code_bits[s];
      pairs += is_pair(a.symbols[s]);
    }
    a.entries[g] = {static_cast<std::uint16_t>(bits), static_cast<std::uint16_t>(pairs)};
  }
  return Status::ok();
}

}  // namespace zerorun
