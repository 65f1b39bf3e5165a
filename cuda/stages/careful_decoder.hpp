// The careful decoder: the stages one after another on a device. It takes what the fast decoder
// (cuda/decode) gives up: damaged scans, which it conceals and reports as the CPU does, values that
// no encoder makes, scans that hardly synchronise; and it alone gives coefficients.
//
// It shares no kernel with the fast decoder. Its synchroniser goes on until every state is proven,
// however long that takes, and counts 64-bit positions; the fast one gives up. Its walk stops at
// the first fault of an interval and keeps the code and place of that fault, which the report
// names; the fast one only finds that there is a fault, since one more value in its loop costs it
// speed. Its transform takes coefficients of any size with 64 bits, the fast one's only those that
// encoders make. And its pairs lie 64 to a block, so that concealing can replace any block's; the
// fast one's lie one behind the other.
// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <vector>

#include "codec/decode/dequant_idct.hpp"
#include "codec/decode/restart_plan.hpp"
#include "codec/pipeline/decode_pipeline.hpp"
#include "codec/pipeline/scan_report.hpp"
#include "cuda/base/scratch.hpp"
#include "cuda/base/step_probe.hpp"

namespace zerorun {

/// Keeps its memory between scans. Its calls return when the device has done the work, because the
/// host needs the results between the stages. After an error, work may be left on the stream.
class CarefulDecoder {
 public:
  /// Once, on the device that is current.
  Status create();

  struct Input {
    const ScanHeader& scan;
    std::span<const std::uint8_t> data;       ///< from the first entropy-coded byte on
    std::span<const std::uint8_t> on_device;  ///< device memory: data up to the scan's end
    Exec exec;
    const StepProbe& probe;
  };
  /// `planes`: device memory, one a scan component.
  Status decode_planes(const Input& in, const PlaneView* planes, ScanOutcome& outcome);
  /// `out` has the image's shape; the scan's components are written.
  Status decode_coefficients(const Input& in, std::vector<ComponentCoefficients>& out,
                             ScanOutcome& outcome);

 private:
  /// What a scan was found to be.
  struct Found {
    std::size_t segments = 0;
    std::uint64_t clean_bytes = 0;
    std::int64_t subsequences = 0;  ///< 0: intervals are decoded as a whole
  };

  Status decode_blocks(const Input& in, Found& found, ScanOutcome& outcome);
  Status upload_tables(const Input& in);
  Status unstuff(const Input& in, Found& found, ScanOutcome& outcome);
  Status upload_cursors(const Input& in, Found& found);
  Status find_coefficients(const Input& in, const Found& found);
  void report(const Input& in, const Found& found, ScanOutcome& outcome);

  PinnedBuffer<HuffmanDecodeTables> host_huffman_;
  DeviceBuffer<HuffmanDecodeTables> huffman_;
  PinnedBuffer<DequantTables> host_dequant_;
  DeviceBuffer<DequantTables> dequant_;
  DeviceBuffer<std::uint8_t> clean_;
  DeviceBuffer<EntropySegment> segments_;
  PinnedBuffer<EntropySegment> host_segments_;
  DeviceBuffer<std::uint64_t> totals_;  ///< segments, consumed bytes
  PinnedBuffer<std::uint64_t> host_totals_;
  RestartPlan plan_;
  DeviceBuffer<BitCursor> cursors_;
  PinnedBuffer<BitCursor> host_cursors_;
  DeviceBuffer<std::int64_t> first_sync_;
  PinnedBuffer<std::int64_t> host_first_sync_;
  DeviceBuffer<SyncPoint> sync_;
  DeviceBuffer<RunLevel> pairs_;
  DeviceBuffer<std::uint8_t> pair_count_;
  DeviceBuffer<std::int16_t> coefficients_, diff_, carry_;
  PinnedBuffer<std::int16_t> host_coefficients_;
  std::vector<IntervalResult> results_;
};

}  // namespace zerorun
