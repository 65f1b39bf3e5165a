// For huffman_sync and huffman_decode: the code tables of one scan in shared memory, and which
// cursor a subsequence belongs to.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "codec/arith/host_device.hpp"
#include "codec/syntax/huffman_code.hpp"
#include "codec/syntax/scan_layout.hpp"

namespace zerorun {

/// 19.1 KiB. Destinations that the scan does not use are left undefined.
struct SharedDecodeTables {
  HuffmanDecodeTable dc[4];
  HuffmanDecodeTable ac[4];
};
static_assert(sizeof(HuffmanDecodeTable) % sizeof(std::uint32_t) == 0);

/// All threads of the CTA call it; the caller synchronises afterwards.
static __device__ void load_decode_table(const HuffmanDecodeTable& from, HuffmanDecodeTable& to) {
  const auto* in = reinterpret_cast<const std::uint32_t*>(&from);
  auto* out = reinterpret_cast<std::uint32_t*>(&to);
  constexpr unsigned kWords = sizeof(HuffmanDecodeTable) / sizeof(std::uint32_t);
  for (unsigned i = threadIdx.x; i < kWords; i += blockDim.x) out[i] = in[i];
}

static __device__ void load_decode_tables(const ScanLayout& layout,
                                          const HuffmanDecodeTables* tables,
                                          SharedDecodeTables& shared) {
  unsigned dc_used = 0, ac_used = 0;
  for (int c = 0; c < layout.components; ++c) {
    dc_used |= 1u << layout.component[c].dc_table;
    ac_used |= 1u << layout.component[c].ac_table;
  }
  for (int d = 0; d < 4; ++d) {
    if ((dc_used >> d & 1) != 0) load_decode_table(tables->dc[d], shared.dc[d]);
    if ((ac_used >> d & 1) != 0) load_decode_table(tables->ac[d], shared.ac[d]);
  }
}

/// The last cursor whose subsequences start at `sub` or before: a cursor without any shares its
/// start with the next one. `first_sub` is [cursors + 1] and ascending.
ZR_HD std::int64_t cursor_of_subsequence(const std::int64_t* first_sub, std::int64_t cursors,
                                         std::int64_t sub) {
  std::int64_t low = 0, high = cursors;  // first_sub[low] <= subsequence < first_sub[high]
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    if (first_sub[middle] <= sub) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace zerorun
