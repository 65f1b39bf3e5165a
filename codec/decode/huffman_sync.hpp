// Decode stage 2: finds where codewords begin, which the coded bits do not say.
// SPDX-License-Identifier: MIT
#pragma once

#include "codec/base/exec.hpp"
#include "codec/syntax/huffman_code.hpp"
#include "codec/syntax/scan_layout.hpp"

namespace zerorun {

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

}  // namespace zerorun
