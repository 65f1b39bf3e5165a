// Encode stage 6: codewords -> bytes of each restart interval. Inverse: huffman_sync.
// SPDX-License-Identifier: MIT
#pragma once

#include "codec/base/exec.hpp"
#include "codec/syntax/scan_layout.hpp"

namespace zerorun {

/// An interval starts on a byte, and its last byte is filled with 1-bits (T.81 F.1.2.3). Intervals
/// here are `interval_blocks` consecutive blocks; the last may be shorter.
struct BitPackArgs {
  std::int64_t blocks;
  std::int64_t interval_blocks;             ///< > 0
  const std::uint32_t* block_first_symbol;  ///< [blocks + 1]
  const std::uint32_t* code;
  const std::uint8_t* code_bits;
  std::uint8_t* bytes;                 ///< out; capacity bytes_capacity; CUDA: aligned to 4
  std::int64_t bytes_capacity;         ///< at least max_packed_bytes()
  std::uint64_t* interval_first_byte;  ///< [intervals + 1] out: offsets into `bytes`
  std::uint64_t* interval_bits;        ///< [intervals] out: bits without the fill bits
};

/// A block has at most 27 + 63 * 26 bits (DC category 11, AC category 10, 16-bit codes).
inline constexpr std::int64_t kMaxBlockBits = 27 + 63 * 26;

/// The most bytes that `blocks` blocks take; includes room for stores of whole words.
constexpr std::int64_t max_packed_bytes(std::int64_t blocks, std::int64_t intervals) {
  return (blocks * kMaxBlockBits + 7) / 8 + intervals + 16;
}

Status bit_pack_cpu(const BitPackArgs& args, Exec& exec);
Status bit_pack_cuda(const BitPackArgs& args, Exec& exec);

}  // namespace zerorun
