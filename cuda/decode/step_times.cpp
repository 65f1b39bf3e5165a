// Decoders with an event before each step: the product's from a stream in host memory to a device
// frame, the staged one from pinned to pinned host memory. The product launches each kernel
// so that it begins while the one before it ends; an event between them prevents that, so the sum
// of its steps is more than a frame takes.
// SPDX-License-Identifier: MIT
#include "codec/base/step_times.hpp"

#include "codec/pipeline/decode_walk.hpp"
#include "cuda/base/span_clock.hpp"
#include "cuda/decode/cuda_decode_pipeline.hpp"
#include "cuda/stages/staged_decoder.hpp"

namespace zerorun {
namespace {

/// The stages in place of the product's kernels, for baseline frames in host memory.
class StagedDecodePipeline final : public CudaDecodePipeline {
 public:
  using CudaDecodePipeline::CudaDecodePipeline;
  /// Work that an error left behind uses the decoder's memory.
  ~StagedDecodePipeline() override { (void)image_.wait(); }

  Status decode_scan(const ScanHeader& scan, std::span<const std::uint8_t> data,
                     ScanOutcome& outcome) override {
    const auto sent = data.first(scan_extent(data));
    const std::uint8_t* on_device = nullptr;
    ZR_TRY(announce(probe_, "upload"));
    ZR_TRY(upload_.enqueue(sent, 0, stream(), on_device));
    return decoder_.decode_planes({scan, {on_device, sent.size()}, image_.exec(), probe_},
                                  image_.open(scan).data(), outcome);
  }
  Status decode_progressive(const FrameHeader&, std::span<const FrameScan>,
                            std::span<ScanOutcome>) override {
    return Status(Errc::progressive);
  }

 private:
  StagedDecoder decoder_;
};

class CudaStepDecoder final : public StepDecoder {
 public:
  explicit CudaStepDecoder(const DecodeParams& params) : params_(params) {}

  Status create(bool is_staged) {
    const int device = params_.device, threads = params_.threads;
    if (is_staged) {
      pipeline_ = std::make_unique<StagedDecodePipeline>(device, threads);
    } else {
      ZR_TRY(stream_.create());
      pipeline_ = std::make_unique<CudaDecodePipeline>(device, threads);
      pipeline_->use_device_frames(stream_.get(), nullptr);
    }
    ZR_TRY(pipeline_->create());
    pipeline_->observe(
        [this](const char* step) { return mark(*step == '\0' ? "outcome to the host" : step); });
    return Status::ok();
  }

  Status decode(std::span<const std::byte> jpeg, const FrameView& out,
                std::vector<StepTime>& steps) override {
    const DeviceGuard guard(params_.device);
    ZR_TRY(guard.status());
    const auto report = walk_frame(
        *pipeline_, params_, jpeg,
        [&](int width, int height, FrameView& target) {
          target = out;
          return check_frame_size(out, width, height);
        },
        [&](ColorModel model, ChromaUpsampling upsampling, const FrameView& frame) -> Status {
          if (stream_.get() == nullptr) return pipeline_->finish_frame(model, upsampling, frame);
          ZR_TRY(mark("color_upsample"));
          ZR_TRY(pipeline_->finish_device_frame(model, upsampling, frame));
          return mark("end");
        },
        window_);
    if (!report) return report.status();
    return log_.read(pipeline_->stream(), steps);
  }

 private:
  Status mark(const char* step) { return log_.mark(pipeline_->stream(), step); }

  const DecodeParams params_;
  HostWindow window_;
  EventLog<const char*> log_;  // string literals
  Stream stream_;              // of device frames; the staged decoder has none
  std::unique_ptr<CudaDecodePipeline> pipeline_;
};

}  // namespace

Result<std::unique_ptr<StepDecoder>> make_cuda_step_decoder(const DecodeParams& params,
                                                            bool is_staged) {
  const DeviceGuard guard(params.device);
  ZR_TRY(guard.status());
  auto decoder = std::make_unique<CudaStepDecoder>(params);
  ZR_TRY(decoder->create(is_staged));
  return std::unique_ptr<StepDecoder>(std::move(decoder));
}

}  // namespace zerorun
