// The fast encoder's kernels: samples -> quantised blocks -> bits, a run of MCUs at a time.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>

#include "codec/arith/quant.hpp"
#include "codec/arith/tune.hpp"
#include "codec/arith/zigzag.hpp"
#include "codec/encode/bit_state.hpp"
#include "codec/encode/symbol_histogram.hpp"
#include "codec/syntax/huffman_code.hpp"
#include "codec/syntax/scan_layout.hpp"
#include "zerorun/backend.hpp"

namespace zerorun::fast {

/// Quantisation in 16 bits, exact as Divisor of arith/quant.hpp: with n = |x| + 4 q < 2^15 the
/// quotient n / 8 q is t / 4 q of t = n / 2 < 2^14. Let S = ceil(log2 4 q) - 1, so that
/// 2^S < 4 q <= 2^(S + 1), and m = ceil(2^(16 + S) / 4 q) < 2^16. The error t * (m * 4 q - 2^(16 +
/// S)) is below 2^14 * 2^(S + 1) < 2^(16 + S), so (t * m) >> (16 + S) is exact. The second shift is
/// a product with 2^(16 - S). Natural order, each row four times: for vectors of up to 64 bytes.
struct QuantRows {
  alignas(64) std::uint16_t half[8][32];        ///< 4 q - 1: (x + half + 1) / 2 is t
  alignas(64) std::uint16_t reciprocal[8][32];  ///< m
  alignas(64) std::uint16_t scale[8][32];       ///< 2^(16 - S)
};
/// `table` is in natural order, its entries 1..255.
void fill_quant_rows(const std::uint16_t* table, QuantRows& out);

/// MCUs that a call of the kernels works on at most: their blocks stay in the first-level cache.
inline constexpr int kRunMcus = 24;

/// Blocks of a run in scan order.
struct BlockRun {
  alignas(64) std::int16_t zz[kRunMcus * kMaxBlocksPerMcu][kBlockSize];  ///< zig-zag order
  std::uint64_t nonzero[kRunMcus * kMaxBlocksPerMcu];                    ///< bit k: zz[k] is not 0
};

struct TransformRunArgs {
  const ScanLayout* layout;
  const ConstPlaneView* plane;      ///< one a component
  const QuantRows* quant;           ///< two: component 0 uses the first, the others the second
  std::int32_t mcu_x, mcu_y;        ///< of the first MCU
  std::int32_t mcus;                ///< 1..kRunMcus, in one row of MCUs
  BlockRun* run;                    ///< out
  const TuneRules* tune = nullptr;  ///< null: all coefficients are rounded
  Divisor dc[2] = {};               ///< of the two tables; used with `tune`
};

/// DC predictions; 0 at the start of an interval.
struct Predictions {
  std::int32_t dc[kMaxComponents];
};

// A token is what is kept of a codeword between counting symbols and coding them, and the number of
// its entry in the tables. It is a table's base, plus
// - run * 64 + value + 32 for an AC coefficient of a value from -32 to 31,
// - kTokenSymbol + RRRRSSSS for EOB and ZRL,
// - kTokenDc + table * 512 + difference + 256 for a DC difference from -256 to 255,
// or, for all else, kTokenLong + table * 256 + RRRRSSSS, followed by the appended bits.
inline constexpr int kDirectValues = 64, kDirectOffset = 32;
inline constexpr int kDirectDiffs = 512, kDirectDiffOffset = 256;
inline constexpr int kTokenSymbol = 16 * kDirectValues;
inline constexpr int kTokensPerTable = kTokenSymbol + 256;
inline constexpr int kTokenDc = 2 * kTokensPerTable;
/// A bit of its own, so that one test shows whether there is such a token among several.
inline constexpr int kTokenLong = 1 << 12;
static_assert(kTokenDc + 2 * kDirectDiffs <= kTokenLong);
inline constexpr int kTokenKinds = kTokenLong + kEncodeTables * 256;
/// A DC and 63 AC coefficients of two tokens each; ZRL takes less than the zeros it stands for.
inline constexpr int kMaxBlockTokens = 2 * 64;

/// An entry is bits << kLengthBits | length: a codeword with its appended bits, or behind
/// kTokenLong a codeword alone, whose length counts those bits too. Shifts of 64 bits take the
/// length as it stands there.
inline constexpr int kLengthBits = 6;
struct CodeTables {
  std::uint32_t entry[kTokenKinds];
};
void fill_code_tables(const std::array<HuffmanSpec, kEncodeTables>& specs, CodeTables& out);

struct TokenCounts {
  std::uint32_t count[kTokenKinds];
};
void add_symbol_counts(const TokenCounts& tokens, SymbolCounts& out);

struct EncodeKernels {
  /// Stage 2 of the reference, with its rule for blocks of padding, and the non-zero masks.
  void (*transform_run)(const TransformRunArgs&);
  /// Stages 3 to 6: codes the MCUs of the run. May store 8 bytes after the last bit.
  void (*code_run)(const ScanLayout&, const BlockRun&, int mcus, const CodeTables&, Predictions&,
                   BitState&);
  /// Stages 3 and 4 for optimal tables: appends tokens (code_tables.hpp); returns their end.
  std::uint16_t* (*tokens_of_run)(const ScanLayout&, const BlockRun&, int mcus, Predictions&,
                                  std::uint16_t* out, TokenCounts&);
  /// Stages 5 and 6 for optimal tables.
  void (*code_tokens)(const std::uint16_t* begin, const std::uint16_t* end, const CodeTables&,
                      BitState&);
  /// Stage 7: copies bytes with 00 after each FF; returns the end. May store 64 bytes after it.
  std::uint8_t* (*stuff)(const std::uint8_t* begin, const std::uint8_t* end, std::uint8_t* out);
};

/// `target` is in instruction_sets() and not scalar.
const EncodeKernels& encode_kernels(InstructionSet target);

}  // namespace zerorun::fast
