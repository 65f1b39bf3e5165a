// Decode stage 3: bits -> (run, level) pairs (T.81 F.2.2). Inverse: huffman_encode.
// SPDX-License-Identifier: MIT
#pragma once

#include "codec/arith/symbol.hpp"
#include "codec/arith/zigzag.hpp"
#include "codec/base/exec.hpp"
#include "codec/decode/huffman_sync.hpp"
#include "codec/syntax/huffman_code.hpp"
#include "codec/syntax/scan_layout.hpp"

namespace zerorun {

/// Whole MCUs whose codewords start at a known bit: a restart interval, or the part of one that a
/// call decodes. The stage advances the cursor.
struct BitCursor {
  std::uint64_t bit;         ///< in/out: position in `bytes`, first bit of a byte is its highest
  std::uint64_t end_bit;     ///< where the segment ends; no codeword may cross it
  std::int64_t first_block;  ///< index in `pairs` of the first block
  std::int64_t blocks;       ///< to decode
  std::int64_t good_blocks;  ///< out: decoded without a fault
  Errc fault;                ///< out: ok, truncated, bad_huffman_code or run_past_block_end
};

/// On the CPU, blocks from the one with the fault on get only the pair (0, 0): DIFF 0 and no AC.
/// The CUDA twin is for sound bits: it reports `good_blocks` and `fault`, and leaves those blocks
/// and the cursor's `bit` undefined.
struct HuffmanDecodeArgs {
  ScanLayout layout;
  const std::uint8_t* bytes;  ///< clean bytes. CUDA: 4-byte aligned
  std::uint64_t byte_count;
  const HuffmanDecodeTables* tables;
  BitCursor* cursors;
  std::int64_t cursor_count;
  /// Entry points inside the cursors' bits, or null. They let more threads work and do not change
  /// the result.
  const SyncPoint* sync;
  std::int64_t sync_count;
  const std::int64_t* cursor_first_sync;  ///< with sync: [cursor_count + 1], as huffman_sync had it
  RunLevel* pairs;           ///< [blocks][64] out; only the first pair_count of a block are written
  std::uint8_t* pair_count;  ///< [blocks] out, 1..64
};

Status huffman_decode_cpu(const HuffmanDecodeArgs& args, Exec& exec);
Status huffman_decode_cuda(const HuffmanDecodeArgs& args, Exec& exec);

}  // namespace zerorun
