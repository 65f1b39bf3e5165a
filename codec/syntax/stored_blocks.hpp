// Coefficients of a component that stay in memory from scan to scan.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <cstring>

#include "codec/arith/zigzag.hpp"
#include "codec/syntax/scan_layout.hpp"

namespace zerorun {

/// The coefficients of one component; blocks that hold samples, in rows. DC and AC lie apart, so
/// that a scan of DC reads nothing else, and that a block without AC costs 10 bytes.
struct StoredBlocks {
  std::int32_t blocks_wide = 0, blocks_high = 0;
  std::int16_t* dc = nullptr;  ///< [blocks_high][blocks_wide]
  /// [blocks_high][blocks_wide]; bit k: the coefficient at zig-zag index k is not 0. Bit 0 is 0.
  std::uint64_t* nonzero = nullptr;
  /// [blocks_high][blocks_wide][64], natural order. Undefined where `nonzero` is 0; [0] is 0.
  std::int16_t* ac = nullptr;

  /// The block with its DC.
  void copy_block(std::int64_t block, std::int16_t* out) const {
    if (nonzero[block] == 0)
      std::memset(out, 0, kBlockSize * sizeof *out);
    else
      std::memcpy(out, ac + block * kBlockSize, kBlockSize * sizeof *out);
    out[0] = dc[block];
  }
};

/// Stores a block of an MCU of all components, if it holds samples. `zz`: in zig-zag order, with
/// the DC first; `nonzero` as in StoredBlocks; `blocks`: one a component, whose AC stay in that
/// order.
inline void store_block(const ScanLayout& layout, std::int64_t mcu, std::int32_t index,
                        const std::int16_t* zz, std::uint64_t nonzero, const StoredBlocks* blocks) {
  const BlockPlace place = place_block(layout, mcu, index);
  if (!place.inside) return;
  const StoredBlocks& to = blocks[place.component];
  const std::int64_t block = std::int64_t{place.y} * to.blocks_wide + place.x;
  to.dc[block] = zz[0];
  to.nonzero[block] = nonzero & ~std::uint64_t{1};
  if (nonzero > 1) std::memcpy(to.ac + block * kBlockSize, zz, kBlockSize * sizeof *zz);
}

}  // namespace zerorun
