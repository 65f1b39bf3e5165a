// Cursors and segments -> ScanOutcome, for the decode pipelines of both backends.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>

#include "codec/decode/byte_unstuff.hpp"
#include "codec/decode/huffman_decode.hpp"
#include "codec/pipeline/decode_pipeline.hpp"
#include "codec/decode/restart_plan.hpp"

namespace zerorun {

/// Where the decoding of one restart interval ended.
struct IntervalResult {
  Errc fault = Errc::ok;
  std::uint64_t bit = 0;      ///< where decoding stopped, or the faulty block starts
  std::uint64_t end_bit = 0;  ///< of its segment
};

/// Offset in the stuffed data of clean byte `clean` of a segment.
std::uint64_t source_offset(std::span<const std::uint8_t> data, const EntropySegment& segment,
                            std::uint64_t clean);

/// Counts damaged intervals and finds the first problem of the scan. `segments` includes the
/// closing entry; interval i was decoded from plan.segment_of_interval[i].
void report_scan(std::span<const std::uint8_t> data, std::span<const EntropySegment> segments,
                 const RestartPlan& plan, std::span<const IntervalResult> intervals,
                 ScanOutcome& outcome);

}  // namespace zerorun
