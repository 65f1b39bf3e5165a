// The decoder's stages one after another on a device, for sound scans: what a reader learns from,
// and what the benchmark measures beside the product. It knows nothing of damage.
// SPDX-License-Identifier: MIT
#pragma once

#include <span>

#include "codec/pipeline/decode_pipeline.hpp"
#include "codec/pipeline/stage_table.hpp"
#include "cuda/base/scratch.hpp"
#include "cuda/base/step_probe.hpp"

namespace zerorun {

/// Keeps its memory between scans. After an error, work may be left on the stream.
class StagedDecoder {
 public:
  /// Once, on the device that is current.
  Status create();

  struct Input {
    const ScanHeader& scan;
    std::span<const std::uint8_t> on_device;  ///< device memory: from the first entropy-coded byte
    Exec exec;
    const StepProbe& probe;
  };
  /// `planes`: device memory, one a scan component. Returns when the device has done the work.
  /// Errors: invalid_argument for a scan that is not sound.
  Status decode_planes(const Input& in, const PlaneView* planes, ScanOutcome& outcome);

 private:
  /// What a scan was found to be.
  struct Found {
    std::uint64_t clean_bytes = 0;
    std::int64_t subsequences = 0;  ///< 0: intervals are decoded as a whole
  };

  Status upload_tables(const Input& in);
  Status unstuff(const Input& in, Found& found, ScanOutcome& outcome);
  Status upload_cursors(const Input& in, Found& found);
  Status find_coefficients(const Input& in, const Found& found);
  Status check_cursors(std::int64_t intervals, const Exec& exec);

  PinnedBuffer<HuffmanDecodeTables> host_huffman_;
  DeviceBuffer<HuffmanDecodeTables> huffman_;
  PinnedBuffer<DequantTables> host_dequant_;
  DeviceBuffer<DequantTables> dequant_;
  DeviceBuffer<std::uint8_t> clean_;
  DeviceBuffer<EntropySegment> segments_;
  PinnedBuffer<EntropySegment> host_segments_;
  DeviceBuffer<std::uint64_t> totals_;  ///< segments, consumed bytes
  PinnedBuffer<std::uint64_t> host_totals_;
  DeviceBuffer<BitCursor> cursors_;
  PinnedBuffer<BitCursor> host_cursors_;
  DeviceBuffer<std::int64_t> first_sync_;
  PinnedBuffer<std::int64_t> host_first_sync_;
  DeviceBuffer<SyncPoint> sync_;
  DeviceBuffer<RunLevel> pairs_;
  DeviceBuffer<std::uint8_t> pair_count_;
  DeviceBuffer<std::int16_t> coefficients_, diff_, carry_;
};

}  // namespace zerorun
