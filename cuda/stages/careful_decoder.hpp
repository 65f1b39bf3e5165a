// The decoder's stages one after another on a device: what conceals and reports damage, and what a
// reader learns from.
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "codec/decode/dequant_idct.hpp"
#include "codec/pipeline/decode_pipeline.hpp"
#include "codec/pipeline/scan_report.hpp"
#include "codec/decode/restart_plan.hpp"
#include "cuda/base/scratch.hpp"
#include "cuda/base/step_probe.hpp"
#include "cuda/decode/scan_upload.hpp"

namespace zerorun {

/// Device rows of the pipeline's own planes start on whole sectors.
inline constexpr std::int64_t kPlanePitchAlign = 128;

/// Keeps its memory between images. Every call but finish_device_frame() ends when the device has
/// done the work, because the host needs what comes out of it.
class StagedDecodePipeline final : public DecodePipeline {
 public:
  explicit StagedDecodePipeline(int device) : device_(device) {}
  ~StagedDecodePipeline() override;
  Status create();

  /// For device frames: the stream to work on, and where the image lies in device memory beside
  /// `host_jpeg` (or null, and scans are uploaded). Null: its own stream.
  void work_on(const cudaStream_t* stream, const std::uint8_t* host_jpeg,
               const std::uint8_t* device_jpeg);

  /// The steps of each scan.
  void observe(StepProbe probe) { probe_ = std::move(probe); }

  /// Of the image at hand.
  int components() const { return components_; }
  /// Where a scan's components go, one each; they count as scanned from then on.
  void open_planes(const ScanHeader& scan, PlaneView* planes);
  cudaStream_t stream() const { return borrowed_stream_ ? stream_in_use_ : own_stream_.get(); }
  Status wait();

  /// `direct` is a device frame after work_on() with a stream.
  Status begin_planes(const FrameHeader& frame, const FrameView* direct, bool luma_only) override;
  Status begin_coefficients(std::vector<ComponentCoefficients>& out) override;
  Status decode_scan(const ScanHeader& scan, std::span<const std::uint8_t> data,
                     ScanOutcome& outcome) override;
  Status finish_frame(ColorModel model, ChromaUpsampling upsampling, const FrameView& out) override;
  Status finish_planes(std::vector<ComponentPlane>& out) override;
  Status finish_coefficients() override;

  /// finish_frame() for a frame in device memory; enqueued only.
  Status finish_device_frame(ColorModel model, ChromaUpsampling upsampling, const FrameView& out);

 private:
  const ScanLayout& layout() const { return scan_->layout; }
  Exec exec() { return cuda_exec(stream(), scratch_); }

  Status run_scan(std::span<const std::uint8_t> data, ScanOutcome& outcome);
  Status upload_tables();
  Status unstuff(std::span<const std::uint8_t> data, ScanOutcome& outcome);
  Status upload_cursors();
  Status decode_blocks();
  Status transform_blocks();
  Status store_coefficients();
  Status fill_missing();
  Status upsample(ColorModel model, ChromaUpsampling upsampling, const FrameView& device_frame);
  Status download_plane(const std::uint8_t* from, std::int64_t stride, std::int64_t width,
                        std::int64_t height);
  Status mark(const char* step) { return announce(probe_, step); }

  const int device_;
  StepProbe probe_;
  Stream own_stream_;
  bool borrowed_stream_ = false;
  cudaStream_t stream_in_use_ = nullptr;
  const std::uint8_t* host_jpeg_ = nullptr;
  const std::uint8_t* device_jpeg_ = nullptr;
  Scratch scratch_;
  PinnedBuffer<std::uint8_t> staging_;

  // of the image
  int components_ = 0;
  int h_[kMaxComponents] = {}, v_[kMaxComponents] = {}, h_max_ = 1, v_max_ = 1;
  bool scanned_[kMaxComponents] = {};
  bool direct_ = false;
  PlaneView planes_[kMaxComponents];
  DeviceBuffer<std::uint8_t> plane_memory_[kMaxComponents];
  DeviceBuffer<std::uint8_t> frame_memory_;
  std::vector<ComponentCoefficients>* coefficients_out_ = nullptr;

  // of the scan
  const ScanHeader* scan_ = nullptr;
  PinnedBuffer<HuffmanDecodeTables> host_huffman_;
  DeviceBuffer<HuffmanDecodeTables> huffman_;
  PinnedBuffer<DequantTables> host_dequant_;
  DeviceBuffer<DequantTables> dequant_;
  ScanUpload upload_;
  DeviceBuffer<std::uint8_t> clean_;
  DeviceBuffer<EntropySegment> segments_;
  PinnedBuffer<EntropySegment> host_segments_;
  DeviceBuffer<std::uint64_t> totals_;  // segments, consumed bytes
  PinnedBuffer<std::uint64_t> host_totals_;
  std::int64_t segment_total_ = 0;
  std::uint64_t clean_bytes_ = 0;
  RestartPlan plan_;
  DeviceBuffer<BitCursor> cursors_;
  PinnedBuffer<BitCursor> host_cursors_;
  DeviceBuffer<std::int64_t> first_sync_;
  PinnedBuffer<std::int64_t> host_first_sync_;
  std::int64_t sync_count_ = 0;
  DeviceBuffer<SyncPoint> sync_;
  DeviceBuffer<RunLevel> pairs_;
  DeviceBuffer<std::uint8_t> pair_count_;
  DeviceBuffer<std::int16_t> coefficients_, diff_, carry_;
  PinnedBuffer<std::int16_t> host_coefficients_;
  std::vector<IntervalResult> results_;
};

}  // namespace zerorun
