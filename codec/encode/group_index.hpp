// Side stage of the encoder: bits and (run, level) pairs of groups of MCUs, for the scan index.
// SPDX-License-Identifier: MIT
#pragma once

#include "codec/arith/symbol.hpp"
#include "codec/base/exec.hpp"
#include "codec/syntax/scan_index.hpp"

namespace zerorun {

/// Intervals here are `interval_blocks` consecutive blocks, as in bit_pack; groups are
/// `group_blocks` consecutive blocks of an interval. The last of each may be shorter.
struct GroupIndexArgs {
  std::int64_t blocks;
  std::int64_t interval_blocks;  ///< > 0
  std::int64_t group_blocks;     ///< 1..kMaxIndexGroupBlocks
  const Symbol* symbols;
  const std::uint32_t* block_first_symbol;  ///< [blocks + 1]
  const std::uint8_t* code_bits;
  IndexEntry* entries;  ///< [groups of all intervals] out
};

/// Blocks [begin, end) of a group.
struct GroupBlocks {
  std::int64_t begin, end;
};

ZR_HD std::int64_t groups_per_interval(const GroupIndexArgs& a) {
  return ceil_div(a.interval_blocks, a.group_blocks);
}
ZR_HD std::int64_t group_count(const GroupIndexArgs& a) {
  const std::int64_t whole = a.blocks / a.interval_blocks, rest = a.blocks % a.interval_blocks;
  return whole * groups_per_interval(a) + ceil_div(rest, a.group_blocks);
}
ZR_HD GroupBlocks blocks_of_group(const GroupIndexArgs& a, std::int64_t group) {
  const std::int64_t interval = group / groups_per_interval(a) * a.interval_blocks;
  const std::int64_t begin = interval + group % groups_per_interval(a) * a.group_blocks;
  std::int64_t end = begin + a.group_blocks;
  if (end > interval + a.interval_blocks) end = interval + a.interval_blocks;
  return {begin, end < a.blocks ? end : a.blocks};
}

/// A pair is a DC (difference 0 too) or an AC coefficient, not EOB or ZRL.
ZR_HD bool is_pair(Symbol symbol) { return symbol.table < 2 || (symbol.rrrrssss & 15) != 0; }

Status group_index_cpu(const GroupIndexArgs& args, Exec& exec);
Status group_index_cuda(const GroupIndexArgs& args, Exec& exec);

}  // namespace zerorun
