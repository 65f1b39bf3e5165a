// Scans that the GPU did not prove sound, and all coefficients: the CPU pipeline decodes them, and
// its samples are uploaded.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "codec/pipeline/decode_pipeline.hpp"
#include "cuda/base/memory.hpp"

namespace zerorun {

/// The CPU's part of one image at a time. It starts threads and takes memory at the first scan that
/// needs it, and keeps both.
class CpuScans {
 public:
  /// `threads` decode a scan: 0 = usable cores.
  explicit CpuScans(int threads) : threads_(threads) {}

  /// `luma_only`: only component 0 is wanted.
  void begin_planes(const FrameHeader& frame, bool luma_only);
  /// From here on all scans of the image come here, in `out`'s shape.
  Status begin_coefficients(std::vector<ComponentCoefficients>& out);
  Status finish_coefficients() { return pipeline_->finish_coefficients(); }

  Status decode_scan(const ScanHeader& scan, std::span<const std::uint8_t> data,
                     ScanOutcome& outcome);
  /// All scans of a progressive frame.
  Status decode_progressive(const FrameHeader& frame, std::span<const FrameScan> scans,
                            std::span<ScanOutcome> outcomes);
  /// The device has decoded the scan: its components are no longer the CPU's.
  void device_decoded(const ScanHeader& scan);

  /// Whether some component's samples are the CPU's.
  bool has_planes() const;
  /// Completes the samples; after the last scan, before plane().
  Status finish_planes(ColorModel model, ChromaUpsampling upsampling);
  /// Host memory; without data: the samples are not the CPU's.
  PlaneView plane(std::size_t component) const;

 private:
  void make_pipeline();
  Status open_planes();

  const int threads_;
  std::unique_ptr<DecodePipeline> pipeline_;
  FrameHeader frame_;
  bool luma_only_ = false;
  bool is_open_ = false;  ///< the pipeline has begun the image's planes
  FrameView host_;        ///< of which data and stride_bytes count
  std::array<bool, kMaxComponents> is_cpus_{};
  std::array<PinnedBuffer<std::uint8_t>, kMaxComponents> memory_;
};

}  // namespace zerorun
