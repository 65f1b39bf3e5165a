// What the two CPU decode pipelines share: the planes of an image, its scans in order, and what
// becomes of them at the end.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "codec/base/buffer.hpp"
#include "codec/base/thread_pool.hpp"
#include "codec/decode/color_upsample.hpp"
#include "codec/pipeline/decode_pipeline.hpp"
#include "codec/pipeline/progressive_frame.hpp"
#include "codec/pipeline/scan_intervals.hpp"

namespace zerorun {

class CpuDecodePipeline : public DecodePipeline {
 public:
  /// Pictures of fewer than `least_blocks` are decoded by one thread.
  CpuDecodePipeline(int threads, std::int64_t least_blocks)
      : pool_(threads), least_blocks_(least_blocks) {}

  Status begin_planes(const FrameHeader& frame, const FrameView* direct, bool luma_only) final;
  Status begin_coefficients(std::vector<ComponentCoefficients>& out) final;
  Status decode_scan(const ScanHeader& scan, std::span<const std::uint8_t> data,
                     ScanOutcome& outcome) final;
  Status decode_progressive(const FrameHeader& frame, std::span<const FrameScan> scans,
                            std::span<ScanOutcome> outcomes) final;
  Status finish_frame(ColorModel model, ChromaUpsampling upsampling, const FrameView& out) final;
  Status finish_planes(std::vector<ComponentPlane>& out) final;
  Status finish_coefficients() final;

 protected:
  using CleanScan = ProgressiveFrame::CleanScan;

  /// Removes the stuffed bytes of a scan, and prepares its decoding.
  virtual CleanScan begin_scan(const ScanHeader& scan, std::span<const std::uint8_t> data,
                               std::uint64_t& consumed_bytes) = 0;
  /// Decodes what `intervals_` say, of which a worker takes `per_task` at a time.
  virtual void decode_intervals(const ScanHeader& scan, const CleanScan& clean,
                                std::int64_t per_task) = 0;
  /// For scan number `scan` of a progressive frame; called on several threads, once a scan.
  virtual CleanScan unstuff(std::size_t scan, std::span<const std::uint8_t> data,
                            std::uint64_t& consumed_bytes) = 0;
  virtual void begin_progressive(std::size_t scans) = 0;
  /// Transforms the blocks of a component that all scans of a progressive frame have left.
  virtual void transform_stored(std::size_t component) = 0;
  virtual void convert(const ColorUpsampleArgs& rows, int worker) = 0;

  template <typename Job>
  void run_jobs(std::int64_t jobs, const Job& job) {
    if (small_) {
      for (std::int64_t i = 0; i < jobs; ++i) job(i, 0);
    } else {
      pool_.run(jobs, std::cref(job));  // no copy: nothing is allocated
    }
  }

  ThreadPool pool_;

  // of the image
  FrameHeader frame_;
  bool small_ = false;  ///< one thread decodes it
  /// The planes are those of the caller's frame. Others have rows of whole 64 bytes, and whole
  /// blocks of rows.
  bool is_direct_ = false;
  PlaneView planes_[kMaxDecodedComponents];
  std::vector<ComponentCoefficients>* coefficients_ = nullptr;  ///< null: planes are wanted
  ProgressiveFrame progressive_;

  ScanIntervals intervals_;  ///< of the scan

 private:
  void fill_gaps();

  const std::int64_t least_blocks_;
  bool scanned_[kMaxDecodedComponents] = {};
  Buffer<std::uint8_t> plane_memory_[kMaxDecodedComponents];
  FlatComponents flat_components_;
};

}  // namespace zerorun
