// The work of one thread of huffman_decode: the codewords from one sync point to the next. Host
// code too, so that a test can run the algorithm without a device.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "codec/arith/host_device.hpp"
#include "codec/decode/block_decoder.hpp"
#include "codec/decode/huffman_decode.hpp"
#include "cuda/base/bit_window.cuh"

namespace zerorun {

/// Where a thread starts, and where another thread takes over.
struct Stretch {
  SyncPoint from;
  std::uint64_t stop_bit;  ///< the other thread decodes codewords from there on
  bool last;               ///< no thread takes over: the cursor's blocks or a fault end it
};

/// Decodes from a sync point up to the first codeword of block `block` of the cursor; the bits are
/// known to be right. Returns where it starts.
template <typename Tables>
ZR_HD std::uint64_t find_block(const HuffmanDecodeArgs& a, const Tables& tables,
                               const SyncPoint& from, std::int64_t block, std::uint64_t end_bit) {
  BitWindow window(a.bytes, a.byte_count, from.bit);
  int k = from.k;
  for (std::int64_t b = from.block; b < block; ++b, k = 0) {
    const auto& component =
        a.layout.component[a.layout.block_component[b % a.layout.blocks_per_mcu]];
    if (k == 0) {
      if (decode_dc(window, tables.dc[component.dc_table], end_bit).fault != Errc::ok) break;
      k = 1;
    }
    while (k < kBlockSize) {
      const DecodedPair next = decode_ac(window, tables.ac[component.ac_table], end_bit, k);
      if (next.end_of_block || next.fault != Errc::ok) break;
    }
  }
  return window.position();
}

/// Start of the block that is open at subsequence `sub`: it began there or in a subsequence before.
template <typename Tables>
ZR_HD std::uint64_t open_block_start(const HuffmanDecodeArgs& a, const Tables& tables,
                                     std::int64_t sub, std::int64_t first_sub,
                                     std::uint64_t end_bit) {
  const std::int64_t block = a.sync[sub].block;
  std::int64_t from = sub;
  while (from > first_sub && a.sync[from].block == block && a.sync[from].k != 0) --from;
  return find_block(a, tables, a.sync[from], block, end_bit);
}

/// Where and why decoding ended.
struct StretchEnd {
  std::int64_t block;  ///< the block with the fault, or the number of blocks
  std::uint64_t bit;   ///< after the last block; after a fault the block's start, or kElsewhere if
                       ///< that is before the stretch
  Errc fault;
};
inline constexpr std::uint64_t kElsewhere = ~std::uint64_t{0};

/// Returns false, without `end`, if another thread takes over.
template <typename Tables>
ZR_HD bool decode_stretch(const HuffmanDecodeArgs& a, const Tables& tables, const BitCursor& cursor,
                          const Stretch& stretch, StretchEnd& end) {
  BitWindow window(a.bytes, a.byte_count, stretch.from.bit);
  std::int64_t block = stretch.from.block;
  int k = stretch.from.k, pairs = stretch.from.pairs;
  auto in_mcu = static_cast<std::int32_t>(block % a.layout.blocks_per_mcu);
  std::uint64_t block_bit = kElsewhere;
  RunLevel* block_pairs = a.pairs + (cursor.first_block + block) * kBlockSize;
  const std::int64_t blocks = cursor.blocks;
  const std::uint64_t end_bit = cursor.end_bit;
  while (block < blocks) {
    if (!stretch.last && window.position() >= stretch.stop_bit) return false;
    const auto& component = a.layout.component[a.layout.block_component[in_mcu]];
    DecodedPair next;
    if (k == 0) {
      block_bit = window.position();
      next = decode_dc(window, tables.dc[component.dc_table], end_bit);
      k = 1;
    } else {
      next = decode_ac(window, tables.ac[component.ac_table], end_bit, k);
    }
    if (next.fault != Errc::ok) {
      end = {block, block_bit, next.fault};
      return true;
    }
    if (!next.end_of_block) {
      block_pairs[pairs++] = next.pair;
      if (k < kBlockSize) continue;
    }
    a.pair_count[cursor.first_block + block] = static_cast<std::uint8_t>(pairs);
    ++block;
    block_pairs += kBlockSize;
    k = pairs = 0;
    if (++in_mcu == a.layout.blocks_per_mcu) in_mcu = 0;
  }
  end = {block, window.position(), Errc::ok};
  return true;
}

}  // namespace zerorun
