// The symbols of a sequential scan, which is to be coded again with other tables: no coefficient is
// made of them.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "codec/arith/symbol.hpp"
#include "codec/base/buffer.hpp"
#include "codec/decode/restart_plan.hpp"
#include "codec/syntax/header_parser.hpp"
#include "codec/syntax/huffman_code.hpp"

namespace zerorun {

/// Gives the symbols that the encoder would send for the coefficients: no ZRL stands before EOB,
/// and a block of padding has the DC of the block before it. Keeps its memory from scan to scan.
class ScanSymbols {
 public:
  /// `clean` are the bytes of all segments, `clean_bytes` of them, with kProgressiveReadAhead
  /// behind them. `table[i]`: the code tables, 0 or 1, that component i of the scan is to have. All
  /// of it outlives the reading.
  void begin_scan(const ScanHeader& scan, const std::uint8_t* clean, std::uint64_t clean_bytes,
                  const std::uint8_t* table);
  /// Appends the symbols of the next interval. False: something is wrong with it, a difference of
  /// DCs would have more than 15 bits, or there are more symbols than one in two bits, which is a
  /// picture with few coefficients.
  bool read(IntervalState& interval);

  const Symbol* symbols() const { return symbols_.data(); }
  /// Of each interval: where the symbols of the next one begin.
  const std::uint64_t* interval_end() const { return interval_end_.data(); }

  // Read by a function that is no member, since members would be exported with all their versions.
  static constexpr int kStepBits = 11;
  /// An AC symbol with its appended bits, from the next kStepBits bits.
  struct Step {
    Symbol symbol;
    std::uint8_t length;   // bits
    std::uint8_t advance;  // of the zig-zag index; kEndOfBlock; or kLong: take decode_symbol()
  };
  static constexpr int kEndOfBlock = 128, kLong = 192;
  static constexpr std::uint64_t kMostBlockSymbols = 2 * kBlockSize;  // more than a block can have

  const ScanHeader* scan_ = nullptr;
  const std::uint8_t* clean_ = nullptr;
  std::uint8_t table_[kMaxDecodedComponents] = {};
  HuffmanDecodeTables huffman_;
  Step steps_[4][1 << kStepBits];  // by the table's destination
  Buffer<Symbol> symbols_;
  Buffer<std::uint64_t> interval_end_;
  std::uint64_t count_ = 0, room_ = 0, intervals_ = 0;
};

}  // namespace zerorun
