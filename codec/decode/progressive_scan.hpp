// The scans of a progressive frame (T.81 G.1.2): bits -> coefficients, which stay in memory from
// scan to scan. Results equal libjpeg's jpeg_read_coefficients(); test: Progressive.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "codec/decode/restart_plan.hpp"
#include "codec/syntax/header_parser.hpp"
#include "codec/syntax/huffman_code.hpp"
#include "codec/syntax/scan_layout.hpp"

namespace zerorun {

/// A kernel may read this many bytes behind the clean bytes.
inline constexpr int kProgressiveReadAhead = 32;

struct AcScan;

/// Keeps its memory from scan to scan.
class ProgressiveScanDecoder {
 public:
  ProgressiveScanDecoder();
  ~ProgressiveScanDecoder();

  /// `blocks` has one entry a component of the frame; `clean` are the bytes of all segments, with
  /// kProgressiveReadAhead bytes behind them. All of it outlives the decoding.
  void begin_scan(const ScanHeader& scan, const std::uint8_t* clean, const StoredBlocks* blocks);

  /// Decodes an interval up to its end or the first fault. Behind a fault the blocks of a first
  /// scan of DC get the last DC, and those of other scans stay as they are. Calls
  /// `begin_row` with each row of MCUs before it writes there; rows may be left out.
  /// Precondition: the interval has data.
  void decode(IntervalState& interval, const std::function<void(std::int32_t)>& begin_row);

 private:
  void decode_dc(IntervalState& interval, const std::function<void(std::int32_t)>& begin_row);
  void repeat_dc(const IntervalState& interval, std::int32_t first_block);
  std::int16_t* dc_at(std::int64_t mcu, std::int32_t index) const;

  const ScanHeader* scan_ = nullptr;
  const std::uint8_t* clean_ = nullptr;
  StoredBlocks blocks_[kMaxDecodedComponents];  // of the scan
  HuffmanDecodeTable dc_[4];
  std::unique_ptr<AcScan> ac_;
};

}  // namespace zerorun
