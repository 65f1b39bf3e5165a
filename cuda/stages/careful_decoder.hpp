// The careful decoder: the stages one after another on a device. It takes what the fast decoder
// (cuda/decode) gives up: damaged scans, which it conceals and reports as the CPU does, values that
// no encoder makes, and scans that hardly synchronise. It alone gives coefficients.
//
// Both decoders share the classification of stuffed bytes, the order of code tables in an MCU and
// the arithmetic. They do not share kernels. This one's synchroniser goes on until every state is
// proven and counts 64-bit positions; the fast one gives up after some late walks and has 32 bits.
// This one's walk keeps the first fault of an interval and its place, which the report names; the
// fast one's only finds that there is one. This one's pairs have room for 64 in each block, so that
// any block can be concealed; the fast one's are packed in the order of the scan. This one's
// transform takes coefficients of any size, with 64 bits where needed; the fast one's only those
// that encoders make.
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
#include "cuda/base/subsequence_starts.hpp"

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
    std::span<const std::uint8_t> on_device;  ///< device memory: the same, beyond the scan's end
    Exec exec;
    const StepProbe& probe;
    SubsequenceStarts
        starts;  ///< guesses of the fast decoder, which cost time where they are wrong
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
    std::int32_t subsequence_bits = 0;
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
