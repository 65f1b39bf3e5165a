// Encode stages 3 to 7: from quantised blocks to the scan.
// SPDX-License-Identifier: MIT
#pragma once

#include "codec/arith/symbol.hpp"
#include "codec/arith/zigzag.hpp"
#include "codec/base/exec.hpp"
#include "codec/syntax/huffman_code.hpp"
#include "codec/syntax/scan_layout.hpp"

namespace zerorun {

// Encode stage 3: DC -> DIFF (T.81 F.1.1.5.1). Inverse: dc_predict.

/// The prediction is 0 at the start of a restart interval; MCU 0 of the scan starts one.
/// If first_mcu lies inside an interval, the blocks of the MCU before it precede `zz` in memory.
struct DcDiffArgs {
  ScanLayout layout;
  std::int64_t first_mcu, mcu_count;
  const std::int16_t* zz;  ///< [mcu_count * blocks_per_mcu][64]
  std::int16_t* diff;      ///< [mcu_count * blocks_per_mcu] out
};

Status dc_diff_cpu(const DcDiffArgs& args, Exec& exec);
Status dc_diff_cuda(const DcDiffArgs& args, Exec& exec);

// Encode stage 4: quantised blocks -> run/size symbols (T.81 F.1.2). Inverse: zero_run_expand.

/// The symbol array is dense: block b has the symbols block_first_symbol[b] up to [b + 1].
struct ZeroRunArgs {
  ScanLayout layout;
  std::int64_t blocks;                ///< whole MCUs; 0 is valid
  const std::int16_t* zz;             ///< [blocks][64] zig-zag order; zz[b][0] is not read
  const std::int16_t* diff;           ///< [blocks]
  Symbol* symbols;                    ///< out; capacity blocks * 64
  std::uint32_t* block_first_symbol;  ///< [blocks + 1] out
};

Status zero_run_cpu(const ZeroRunArgs& args, Exec& exec);
Status zero_run_cuda(const ZeroRunArgs& args, Exec& exec);

// Side stage of the encoder: frequencies of the symbols, for optimal tables (T.81 K.2).

struct SymbolCounts {
  std::uint32_t count[kEncodeTables][256];
};

struct SymbolHistogramArgs {
  const Symbol* symbols;
  const std::uint32_t* symbol_total;  ///< one number: the number of symbols
  std::int64_t symbol_capacity;       ///< its upper bound, known to the host
  SymbolCounts* counts;               ///< added to
};

Status symbol_histogram_cpu(const SymbolHistogramArgs& args, Exec& exec);
Status symbol_histogram_cuda(const SymbolHistogramArgs& args, Exec& exec);

// Encode stage 5: symbols -> codewords (T.81 F.1.2). Inverse: huffman_decode.

/// A codeword with its appended bits: at most 16 + 11 bits.
struct HuffmanEncodeArgs {
  const Symbol* symbols;
  const std::uint32_t* symbol_total;  ///< one number: the number of symbols
  std::int64_t symbol_capacity;       ///< its upper bound, known to the host
  const HuffmanEncodeTables* tables;
  std::uint32_t* code;      ///< [symbol_total] out: value in the low bits
  std::uint8_t* code_bits;  ///< [symbol_total] out: 1..27
};

Status huffman_encode_cpu(const HuffmanEncodeArgs& args, Exec& exec);
Status huffman_encode_cuda(const HuffmanEncodeArgs& args, Exec& exec);

// Encode stage 6: codewords -> bytes of each restart interval. Inverse: huffman_sync.

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

// Encode stage 7: bytes -> entropy-coded segment (T.81 B.1.1.5, F.1.2.3). Inverse: byte_unstuff.

/// Puts 00 after every FF, and RSTm between two intervals; m counts from the start of the scan.
struct ByteStuffArgs {
  const std::uint8_t* bytes;
  const std::uint64_t* interval_first_byte;  ///< [intervals + 1]
  std::int64_t intervals;
  std::int64_t first_interval;  ///< index in the scan of the first one
  std::int64_t scan_intervals;  ///< in the whole scan: no marker follows the last
  std::uint8_t* out;            ///< capacity out_capacity
  std::int64_t out_capacity;    ///< at least max_stuffed_bytes()
  std::uint64_t* out_bytes;     ///< one number, out
};

constexpr std::int64_t max_stuffed_bytes(std::int64_t bytes, std::int64_t intervals) {
  return 2 * bytes + 2 * intervals;
}

Status byte_stuff_cpu(const ByteStuffArgs& args, Exec& exec);
Status byte_stuff_cuda(const ByteStuffArgs& args, Exec& exec);

}  // namespace zerorun
