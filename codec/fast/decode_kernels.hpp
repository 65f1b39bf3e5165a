// The fast decoder's kernels: bytes -> coefficients -> samples, a run of MCUs at a time.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "codec/arith/zigzag.hpp"
#include "codec/decode/block_decoder.hpp"
#include "codec/fast/decode_tables.hpp"
#include "codec/syntax/scan_layout.hpp"
#include "zerorun/backend.hpp"

namespace zerorun::fast {

/// MCUs of a run at most; their coefficients stay in the first-level cache.
inline constexpr int kDecodeRunMcus = 24;
/// A kernel may read this many bytes after the end of the clean bytes.
inline constexpr int kReadAhead = 512;

/// Blocks of a run by rows: the blocks of one component in one row of blocks lie side by side in
/// groups as wide as the target's vectors: [group][row of 8][block of the group][8].
struct CoefficientRun {
  static constexpr int kMaxBlocks = kDecodeRunMcus * kMaxBlocksPerMcu + 4 * kMaxBlocksPerMcu;
  alignas(64) std::int16_t coefficient[kMaxBlocks * kBlockSize];
  /// Zig-zag positions up to the last one that may be other than 0: 1..64; kWideBlock.
  std::uint8_t extent[kMaxBlocks];
  /// For each block of an MCU: the row's first block in both arrays, the blocks of the row in an
  /// MCU, and the block's place among them.
  struct Place {
    std::int32_t row, h, x;
  };
  Place place[kMaxBlocksPerMcu];
};
/// A block with an AC of more than 10 bits, which no encoder makes.
inline constexpr std::uint8_t kWideBlock = 255;

struct DecodeRunArgs {
  const ScanLayout* layout;
  const DcTable* const* dc;  ///< by destination
  const AcTable* const* ac;
  std::int32_t mcus;        ///< 1..kDecodeRunMcus
  const std::uint8_t* end;  ///< of the interval's clean bytes
  ByteWindow* source;       ///< in/out
  std::int16_t* dc_carry;   ///< in/out: the last DC of each component
  CoefficientRun* run;      ///< out
  /// Not null: where each block begins, and where the last one ends, in bits from `bytes` on.
  const std::uint64_t* starts = nullptr;
  const std::uint8_t* bytes = nullptr;
  /// With `starts`, bit c: of component c the DC alone is wanted; AC in `run` is then undefined.
  std::uint32_t dc_alone = 0;
};

/// A component's table, each row four times: for vectors of up to 64 bytes.
struct DequantRows {
  alignas(64) std::int16_t row[8][32];
  bool checked;  ///< products may leave 16 bits although no block is kWideBlock
};
/// `table` is in natural order.
void fill_dequant_rows(const std::uint16_t* table, DequantRows& out);

struct TransformRowArgs {
  const CoefficientRun* run;
  std::int32_t first;  ///< block of the run: CoefficientRun::Place::row
  std::int32_t blocks;
  const DequantRows* dequant;
  std::uint8_t* out;  ///< the first block's first sample
  std::int64_t stride;
  std::int32_t columns, rows;  ///< samples that there is room for
  std::int32_t shrink = 0;     ///< a block becomes 8 >> shrink samples along each side
};

struct StoreRowArgs {
  const CoefficientRun* run;
  std::int32_t first;  ///< block of the run: CoefficientRun::Place::row
  std::int32_t blocks;
  const StoredBlocks* out;
  std::int64_t at;  ///< the first block's place in `out`
};

/// A walk over whole MCUs.
struct CountWalk {
  std::uint64_t begin;      ///< bit where an MCU starts
  std::uint64_t stop;       ///< it ends at the first start of an MCU here or behind
  std::uint64_t end = 0;    ///< out
  std::int64_t mcus = 0;    ///< out
  std::uint64_t diffs = 0;  ///< out: sums of DC differences, 16 bits a component, by diff_shift
  bool sound = false;       ///< out; false: the bits are no code, or they ended
  std::uint64_t* starts = nullptr;  ///< CountWalkArgs::mask
};
/// Walks that one call takes side by side: one alone waits for its table most of the time. A 4K
/// photo at q90, 15.2 Mbit: 9.4, 5.6, 4.5 and 4.4 ms with one, two, three and four.
inline constexpr int kCountWalks = 4;

struct CountWalkArgs {
  const CountCycle* cycle;
  const std::uint8_t* bytes;  ///< clean bytes
  std::uint64_t end_bit;      ///< of the interval
  CountWalk* walk;
  int walks;  ///< 1..kCountWalks
  /// Above 0: in place of its sums, `starts` of each walk takes the bits where its blocks begin,
  /// and the last one ends, number n at n & mask.
  std::uint64_t mask = 0;
};
struct DecodeKernels {
  /// Blocks of a group in CoefficientRun.
  int group_blocks;
  /// Stages 3 to 5 of the reference. False: something is wrong with the bits, or they end.
  bool (*decode_run)(const DecodeRunArgs&);
  /// Stage 6, of one row of blocks.
  void (*transform_row)(const TransformRowArgs&);
  /// In its place: the blocks as they are.
  void (*store_row)(const StoreRowArgs&);
  /// Stage 1 up to the first FF that 00 does not follow: returns the end of the clean bytes, and
  /// moves `begin` to that FF or to the end. May store 64 bytes behind what it returns.
  std::uint8_t* (*unstuff)(const std::uint8_t*& begin, const std::uint8_t* end, std::uint8_t* out);
  /// Counts the MCUs of each walk and sums up its DC differences.
  void (*count_mcus)(const CountWalkArgs&);
  /// The first start of an MCU at `bit` or behind it that walks find which begin at `from`, one
  /// from each block of the MCU as a guess. It may be wrong, and behind the end.
  std::uint64_t (*find_mcu)(const CountCycle& cycle, const std::uint8_t* bytes,
                            std::uint64_t end_bit, std::uint64_t from, std::uint64_t bit);
};

/// `target` is in instruction_sets() and not scalar.
const DecodeKernels& decode_kernels(InstructionSet target);

}  // namespace zerorun::fast
