// Scans that the GPU did not prove sound, and all coefficients: the CPU pipeline decodes them, and
// its samples are uploaded.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "codec/pipeline/cpu_choice.hpp"
#include "cuda/base/memory.hpp"

namespace zerorun {

/// The CPU's part of one image at a time. It starts threads and takes memory at the first scan that
/// needs it, and keeps both.
class CpuScans {
 public:
  /// `threads` decode a scan: 0 = usable cores.
  explicit CpuScans(int threads) : threads_(threads) {}

  /// `luma_only`: only component 0 is wanted.
  void begin_planes(const FrameHeader& frame, bool luma_only) {
    frame_ = frame;
    luma_only_ = luma_only;
    is_open_ = false;
    is_cpus_.fill(false);
  }
  /// Four components, which no kernel takes: all scans of the image come here, and then
  /// finish_whole() or finish_whole_planes().
  Status begin_whole(const FrameHeader& frame) {
    begin_planes(frame, false);
    is_open_ = true;
    return pipeline().begin_planes(frame, nullptr, false);
  }
  /// `out` is host memory.
  Status finish_whole(ColorModel model, ChromaUpsampling upsampling, const FrameView& out) {
    return pipeline().finish_frame(model, upsampling, out);
  }
  Status finish_whole_planes(std::vector<ComponentPlane>& out) {
    return pipeline().finish_planes(out);
  }
  /// From here on all scans of the image come here, in `out`'s shape.
  Status begin_coefficients(std::vector<ComponentCoefficients>& out) {
    is_open_ = true;
    is_cpus_.fill(false);
    return pipeline().begin_coefficients(out);
  }
  Status finish_coefficients() { return pipeline().finish_coefficients(); }

  Status decode_scan(const ScanHeader& scan, std::span<const std::uint8_t> data,
                     ScanOutcome& outcome) {
    if (!is_open_) ZR_TRY(open_planes());
    outcome = {};
    ZR_TRY(pipeline().decode_scan(scan, data, outcome));
    outcome.on_cpu = true;
    take_components(scan, true);
    return Status::ok();
  }
  /// All scans of a progressive frame.
  Status decode_progressive(const FrameHeader& frame, std::span<const FrameScan> scans,
                            std::span<ScanOutcome> outcomes) {
    if (!is_open_) ZR_TRY(open_planes());
    ZR_TRY(pipeline().decode_progressive(frame, scans, outcomes));
    for (ScanOutcome& outcome : outcomes) outcome.on_cpu = true;
    const std::size_t wanted = luma_only_ ? 1 : frame.components.size();
    std::fill_n(is_cpus_.begin(), wanted, true);
    return Status::ok();
  }
  /// The device has decoded the scan: its components are no longer the CPU's.
  void device_decoded(const ScanHeader& scan) { take_components(scan, false); }

  /// Whether some component's samples are the CPU's.
  bool has_planes() const { return std::ranges::find(is_cpus_, true) != is_cpus_.end(); }
  /// Completes the samples; after the last scan, before plane().
  Status finish_planes(ColorModel model, ChromaUpsampling upsampling) {
    return pipeline().finish_frame(model, upsampling, host_);
  }
  /// Host memory; without data: the samples are not the CPU's.
  PlaneView plane(std::size_t component) const {
    const auto& of_frame = frame_.components[component];
    std::uint8_t* const data = is_cpus_[component] ? host_.data[component] : nullptr;
    return {data, host_.stride_bytes[component], of_frame.width, of_frame.height};
  }

 private:
  DecodePipeline& pipeline() {
    if (!pipeline_) pipeline_ = make_chosen_decode_pipeline(threads_, InstructionSet::best);
    return *pipeline_;
  }
  Status open_planes() {
    host_ = {};
    const std::size_t wanted = luma_only_ ? 1 : frame_.components.size();
    for (std::size_t c = 0; c < wanted; ++c) {
      const auto& component = frame_.components[c];
      ZR_TRY(memory_[c].reserve(std::int64_t{component.width} * component.height));
      host_.data[c] = memory_[c].data();
      host_.stride_bytes[c] = component.width;
    }
    is_open_ = true;
    return pipeline().begin_planes(frame_, &host_, luma_only_);
  }
  void take_components(const ScanHeader& scan, bool are_cpus) {
    for (const int c : scan.components) is_cpus_[static_cast<std::size_t>(c)] = are_cpus;
  }

  const int threads_;
  std::unique_ptr<DecodePipeline> pipeline_;
  FrameHeader frame_;
  bool luma_only_ = false;
  bool is_open_ = false;  ///< the pipeline has begun the image's planes
  FrameView host_;        ///< of which data and stride_bytes count
  std::array<bool, kMaxDecodedComponents> is_cpus_{};
  std::array<PinnedBuffer<std::uint8_t>, kMaxDecodedComponents> memory_;
};

}  // namespace zerorun
