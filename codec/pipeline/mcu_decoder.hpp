// Decodes the MCUs of a scan by the stages of the reference, from any MCU on whose state is known.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "codec/base/buffer.hpp"
#include "codec/decode/dequant_idct.hpp"
#include "codec/decode/huffman_decode.hpp"
#include "codec/decode/restart_plan.hpp"
#include "codec/syntax/header_parser.hpp"
#include "zerorun/decoder.hpp"

namespace zerorun {

struct StageTable;

/// Keeps its memory from scan to scan.
class McuDecoder {
 public:
  /// What it reads and writes; all of it outlives the decoding.
  struct Scan {
    const ScanHeader* header;
    const std::uint8_t* clean;  ///< bytes of all segments
    std::uint64_t clean_bytes;
    const PlaneView* planes;  ///< one a component of the frame
    /// Null: the output are samples.
    std::vector<ComponentCoefficients>* coefficients;
  };

  McuDecoder(const StageTable& stages, int workers)
      : stages_(stages), scratch_(static_cast<std::size_t>(workers)) {}

  void begin_scan(const Scan& scan);

  /// Decodes up to MCU `last`, or up to the first fault: its MCU is the last that is decoded.
  /// Workers (0..workers-1) are independent. Precondition: the interval has data.
  void decode(IntervalState& interval, std::int64_t last, int worker);

 private:
  struct Scratch {
    Buffer<RunLevel> pairs;
    Buffer<std::uint8_t> pair_count;
    Buffer<std::int16_t> coefficients, diff;
  };

  void decode_slice(IntervalState& interval, std::int64_t mcus, Scratch& scratch);
  void output(std::int64_t first_mcu, std::int64_t mcus, const std::int16_t* coefficients);

  const StageTable& stages_;
  std::vector<Scratch> scratch_;  // one a worker
  Scan scan_{};
  HuffmanDecodeTables huffman_;
  DequantTables dequant_;
};

}  // namespace zerorun
