// The decoder of a device: scans that the GPU proves sound are decoded there, and all others by the
// CPU pipeline. For host frames it is used as a DecodePipeline, for device frames by DeviceDecoder.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <vector>

#include "codec/pipeline/cpu_choice.hpp"
#include "cuda/base/span_clock.hpp"
#include "cuda/decode/device_image.hpp"
#include "cuda/decode/scan_decoder.hpp"

namespace zerorun {

/// Scans that the GPU did not prove sound, and all coefficients: the CPU pipeline decodes them, and
/// the samples are uploaded. One image at a time. It starts threads and takes memory at the first
/// scan that needs it, and keeps both.
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
  /// From here on all scans of the image come here.
  Status begin_coefficients(StoredFrame& out) {
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

/// decode_scan() returns when the device has done the work.
class CudaDecodePipeline : public DecodePipeline {
 public:
  /// `threads` copy what lies in pageable memory and decode the CPU's scans: 0 = as many as help.
  explicit CudaDecodePipeline(int device, int threads = 0,
                              const DecodeChoices& choices = default_decode_choices())
      : threads_(threads),
        choices_(choices),
        cpu_(threads),
        device_(device),
        clock_(device),
        image_(threads) {}
  Status create();

  /// For device frames, before each image: the caller's stream, and where the JPEG lies in device
  /// memory; null: scans are uploaded. `meanwhile`, which lives until the image is decoded and may
  /// be empty, is called once, when the device is busy and decode_scan() would wait.
  void use_device_frames(cudaStream_t stream, const std::uint8_t* device_jpeg,
                         const std::function<void()>* meanwhile = nullptr);
  /// `probe` is called before each step of a scan, and nothing goes to DeviceSpans any more.
  void observe(StepProbe probe) {
    probe_ = std::move(probe);
    is_observed_ = true;
  }

  Status begin_planes(const FrameHeader& frame, const FrameView* direct, bool luma_only) override;
  void expect_frame(ColorModel model, ChromaUpsampling upsampling, const FrameView& out) override {
    image_.expect_frame(model, upsampling, out);
  }
  Status begin_coefficients(StoredFrame& out) override;
  Status decode_scan(const ScanHeader& scan, std::span<const std::uint8_t> data,
                     ScanOutcome& outcome) override;
  Status decode_progressive(const FrameHeader& frame, std::span<const FrameScan> scans,
                            std::span<ScanOutcome> outcomes) override;
  Status finish_frame(ColorModel model, ChromaUpsampling upsampling, const FrameView& out) override;
  Status finish_planes(std::vector<ComponentPlane>& out) override;
  Status finish_coefficients() override { return cpu_.finish_coefficients(); }

  /// finish_frame() for a frame in device memory; enqueued only.
  Status finish_device_frame(ColorModel model, ChromaUpsampling upsampling, const FrameView& out);
  /// True if the stream is known to be idle; false means unknown.
  bool is_idle() const { return is_idle_; }
  cudaStream_t stream() const { return image_.stream(); }

 private:
  Status run_scan(const ScanHeader& scan, std::span<const std::uint8_t> data, ScanOutcome& outcome);
  Status upload_cpu_planes(ColorModel model, ChromaUpsampling upsampling);
  Status upload_cpu_frame(ColorModel model, ChromaUpsampling upsampling, const FrameView& out);

  const int threads_;
  const DecodeChoices choices_;
  bool is_observed_ = false;
  const std::uint8_t* device_jpeg_ = nullptr;         ///< of the image
  const std::function<void()>* meanwhile_ = nullptr;  ///< of the image; null once it was called
  bool is_idle_ = false;
  bool wants_coefficients_ = false;  ///< the image's output; false: samples
  bool is_whole_cpus_ = false;       ///< the image has four components
  PinnedBuffer<std::uint8_t> cpu_frame_;
  CpuScans cpu_;

 protected:
  /// `recode`, if not empty, goes on with the pairs, and no samples are made.
  Result<ScanResult> decode_on_device(const ScanHeader& scan, std::span<const std::uint8_t> data,
                                      const ScanDecoder::Behind& recode);

  const int device_;
  SpanClock clock_;  ///< of host frames and of recoding
  ScanDecoder scans_;
  StepProbe probe_;
  ScanUpload upload_;
  DeviceImage image_;  ///< the first to be destroyed: it waits for its stream
};

}  // namespace zerorun
