// Decode stages 2 to 5: from clean bytes to blocks.
// SPDX-License-Identifier: MIT
#pragma once

#include "codec/arith/symbol.hpp"
#include "codec/arith/zigzag.hpp"
#include "codec/base/exec.hpp"
#include "codec/syntax/huffman_code.hpp"
#include "codec/syntax/scan_layout.hpp"

namespace zerorun {

// Decode stage 2: finds where codewords begin, which the coded bits do not say.

struct BitCursor;

/// The decoder's state before the first codeword that starts in a subsequence.
struct SyncPoint {
  std::uint64_t bit;     ///< position in `bytes`
  std::int64_t block;    ///< blocks of the cursor that are complete before it
  std::uint8_t k;        ///< next zig-zag index of the current block; 0: its DC
  std::uint8_t pairs;    ///< pairs of the current block before it
  std::uint8_t reached;  ///< 0: the cursor's blocks, or its sound data, end before it

  friend bool operator==(const SyncPoint&, const SyncPoint&) = default;
};

/// The bits of each cursor are cut into subsequences of `subsequence_bits`, counted from its start.
/// The CPU twin decodes in order and records the states; the CUDA twin finds the same states in
/// parallel (Weissenberger and Schmidt, 2021). Cursors are only read.
struct HuffmanSyncArgs {
  ScanLayout layout;
  const std::uint8_t* bytes;  ///< clean bytes. CUDA: 4-byte aligned
  std::uint64_t byte_count;
  const HuffmanDecodeTables* tables;
  const BitCursor* cursors;
  std::int64_t cursor_count;
  std::int32_t subsequence_bits;  ///< a multiple of 32
  const std::int64_t*
      cursor_first_sync;    ///< [cursor_count + 1]: first index in `sync` of each cursor
  std::int64_t sync_count;  ///< the last entry of cursor_first_sync
  SyncPoint* sync;          ///< out
};

Status huffman_sync_cpu(const HuffmanSyncArgs& args, Exec& exec);
Status huffman_sync_cuda(const HuffmanSyncArgs& args, Exec& exec);

// Decode stage 3: bits -> (run, level) pairs (T.81 F.2.2). Inverse: huffman_encode.

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

// Decode stage 4: (run, level) pairs -> blocks. Inverse: zero_run.

/// Runs stay inside their block: huffman_decode checks them.
struct ZeroRunExpandArgs {
  std::int64_t blocks;
  const RunLevel* pairs;           ///< [blocks][64]
  const std::uint8_t* pair_count;  ///< [blocks]
  std::int16_t* coefficients;      ///< [blocks][64] out: natural order; [b][0] is 0. CUDA: 16-byte
                                   ///< aligned
  std::int16_t* diff;              ///< [blocks] out
};

Status zero_run_expand_cpu(const ZeroRunExpandArgs& args, Exec& exec);
Status zero_run_expand_cuda(const ZeroRunExpandArgs& args, Exec& exec);

// Decode stage 5: DIFF -> DC (T.81 F.2.1.3.1). Inverse: dc_diff.

/// Sums wrap to 16 bits. The prediction is 0 at the start of a restart interval; if first_mcu lies
/// inside an interval, it is `carry`.
struct DcPredictArgs {
  ScanLayout layout;
  std::int64_t first_mcu, mcu_count;
  const std::int16_t* diff;    ///< [mcu_count * blocks_per_mcu]
  std::int16_t* coefficients;  ///< [mcu_count * blocks_per_mcu][64]; [b][0] out
  std::int16_t* carry;         ///< in/out: the last DC of each component of the scan
};

Status dc_predict_cpu(const DcPredictArgs& args, Exec& exec);
Status dc_predict_cuda(const DcPredictArgs& args, Exec& exec);

}  // namespace zerorun
