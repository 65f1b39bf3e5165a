// A slice of a scan through the fast encoder's kernels, run by run.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "codec/encode/bit_pack.hpp"
#include "codec/fast/encode_kernels.hpp"
#include "codec/syntax/scan_layout.hpp"

namespace zerorun::fast {

/// The common part of the slices of a frame.
struct FrameCoding {
  const EncodeKernels* kernels;
  const ScanLayout* layout;
  const ConstPlaneView* plane;  ///< one a component
  const QuantRows* quant;       ///< two
  const TuneRules* tune;        ///< null: all coefficients are rounded
  Divisor dc[2];                ///< of the two tables; used with `tune`
};

/// MCUs of a slice: whole intervals, or a part of one.
struct SliceRange {
  std::int64_t first_mcu, mcu_count;
};

/// A slice starts and an interval ends at a byte boundary; a part may end inside a byte.
struct SliceBits {
  std::uint8_t* bytes;            ///< out; max_slice_bytes() of them
  std::uint64_t* interval_bytes;  ///< out: the end of each interval in `bytes`, with its fill bits
  std::uint64_t bits = 0;         ///< out, of a part: its bits; 0-bits fill up the last byte
};

constexpr std::int64_t max_slice_bytes(std::int64_t blocks, std::int64_t intervals) {
  return max_packed_bytes(blocks, intervals) + 64;
}

/// With tables that are known: transforms and codes in one pass.
void code_slice(const FrameCoding& frame, SliceRange slice, bool is_part, const CodeTables& tables,
                BlockRun& run, SliceBits& out);

/// First pass for optimal tables: transforms, counts, and keeps tokens. `first_token` has room for
/// a number for each interval and one more: the tokens of interval i of the slice begin there.
/// `tokens` grows if it has to, and keeps its size for the next frame.
void tokenise_slice(const FrameCoding& frame, SliceRange slice, BlockRun& run,
                    std::vector<std::uint16_t>& tokens, std::uint64_t* first_token,
                    TokenCounts& counts);

/// Second pass.
void code_slice_tokens(const FrameCoding& frame, SliceRange slice, const std::uint16_t* tokens,
                       const std::uint64_t* first_token, bool is_part, const CodeTables& tables,
                       SliceBits& out);

/// Transforms the blocks of a slice and stores those that hold samples. `blocks`: one a component;
/// AC in zig-zag order.
void store_slice(const FrameCoding& frame, SliceRange slice, BlockRun& run,
                 const StoredBlocks* blocks);

}  // namespace zerorun::fast
