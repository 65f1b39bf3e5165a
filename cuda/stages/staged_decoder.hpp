// The decoder's stages one after another on a device, for sound scans: what a reader learns from,
// and what the benchmark measures beside the product. It knows nothing of damage.
// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <vector>

#include "codec/pipeline/decode_pipeline.hpp"
#include "codec/pipeline/stage_table.hpp"
#include "cuda/base/scratch.hpp"
#include "cuda/base/step_probe.hpp"

namespace zerorun {

/// Keeps its memory between scans. After an error, work may be left on the stream.
class StagedDecoder {
 public:
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
  Status reserve(const Input& in);
  Status upload_tables(const Input& in);
  Status unstuff(const Input& in, ScanOutcome& outcome);
  Status upload_cursors(const Input& in);
  Status find_coefficients(const Input& in);
  Status check_cursors(const Exec& exec);

  // Of the scan.
  std::uint64_t clean_bytes_ = 0;
  std::int64_t subsequences_ = 0;  ///< 0: intervals are decoded as a whole
  std::vector<EntropySegment> host_segments_;
  std::vector<BitCursor> host_cursors_;  ///< one an interval
  std::vector<std::int64_t> host_first_sync_;

  Scratch memory_;  // of all that follow, in device memory
  HuffmanDecodeTables* huffman_ = nullptr;
  DequantTables* dequant_ = nullptr;
  std::uint8_t* clean_ = nullptr;
  EntropySegment* segments_ = nullptr;
  std::uint64_t* totals_ = nullptr;  ///< segments, consumed bytes
  BitCursor* cursors_ = nullptr;
  std::int64_t* first_sync_ = nullptr;
  SyncPoint* sync_ = nullptr;
  RunLevel* pairs_ = nullptr;
  std::uint8_t* pair_count_ = nullptr;
  std::int16_t *coefficients_ = nullptr, *diff_ = nullptr, *carry_ = nullptr;
};

}  // namespace zerorun
