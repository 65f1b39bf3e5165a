// Decoders with an event before each step: the product's from a stream in host memory to a device
// frame, the staged one from pinned to pinned host memory. The product launches each kernel
// so that it begins while the one before it ends; an event between them prevents that, so the sum
// of its steps is more than a frame takes.
// SPDX-License-Identifier: MIT
#include "codec/pipeline/step_times.hpp"

#include "codec/pipeline/decode_walk.hpp"
#include "cuda/base/event_log.hpp"
#include "cuda/decode/cuda_decode_pipeline.hpp"
#include "cuda/stages/staged_decoder.hpp"

namespace zerorun {
namespace {

/// StagedDecoder as a pipeline for frames in host memory.
class StagedDecodePipeline final : public DecodePipeline {
 public:
  explicit StagedDecodePipeline(const DecodeParams& params) : image_(params.threads) {}
  Status create() { return image_.create(); }
  void observe(StepProbe probe) { probe_ = std::move(probe); }
  cudaStream_t stream() const { return image_.stream(); }

  Status begin_planes(const FrameHeader& frame, const FrameView* direct, bool luma_only) override {
    return image_.begin(frame, direct, luma_only);
  }
  Status decode_scan(const ScanHeader& scan, std::span<const std::uint8_t> data,
                     ScanOutcome& outcome) override {
    const auto sent = data.first(scan_extent(data));
    const std::uint8_t* on_device = nullptr;
    ZR_TRY(announce(probe_, "upload"));
    ZR_TRY(upload_.enqueue(sent, stream(), on_device));
    return decoder_.decode_planes({scan, {on_device, sent.size()}, image_.exec(), probe_},
                                  image_.open(scan).data(), outcome);
  }
  Status finish_frame(ColorModel model, ChromaUpsampling upsampling,
                      const FrameView& out) override {
    return image_.write_host_frame(model, upsampling, out, probe_);
  }

  Status begin_coefficients(std::vector<ComponentCoefficients>&) override { return none(); }
  Status finish_planes(std::vector<ComponentPlane>&) override { return none(); }
  Status finish_coefficients() override { return none(); }

 private:
  static Status none() {
    return Status(Errc::invalid_argument, "the staged decoder makes frames alone");
  }

  StepProbe probe_;
  StagedDecoder decoder_;
  ScanUpload upload_;
  DeviceImage image_;  ///< the first to be destroyed: it waits for its stream
};

/// The product's pipeline, with frames in device memory, on a stream of its own.
class FusedDecodePipeline final : public CudaDecodePipeline {
 public:
  explicit FusedDecodePipeline(const DecodeParams& params)
      : CudaDecodePipeline(params.device, params.threads) {}
  Status create() {
    ZR_TRY(stream_.create());
    use_device_frames(stream_.get(), nullptr);
    return CudaDecodePipeline::create();
  }
  void observe(StepProbe probe) {
    mark_ = probe;
    CudaDecodePipeline::observe(std::move(probe));
  }
  cudaStream_t stream() const { return stream_.get(); }

  Status finish_frame(ColorModel model, ChromaUpsampling upsampling,
                      const FrameView& out) override {
    ZR_TRY(mark_("color_upsample"));
    ZR_TRY(finish_device_frame(model, upsampling, out));
    return mark_("");
  }

 private:
  StepProbe mark_;
  Stream stream_;
};

template <typename Pipeline>
class CudaStepDecoder final : public StepDecoder {
 public:
  explicit CudaStepDecoder(const DecodeParams& params) : params_(params), pipeline_(params) {}

  Status create() {
    ZR_TRY(pipeline_.create());
    pipeline_.observe([this](const char* step) {
      return log_.mark(pipeline_.stream(), *step == '\0' ? "outcome to the host" : step);
    });
    return Status::ok();
  }

  Status decode(std::span<const std::byte> jpeg, const FrameView& out,
                std::vector<StepTime>& steps) override {
    const DeviceGuard guard(params_.device);
    ZR_TRY(guard.status());
    const auto report = walk_frame(
        pipeline_, params_, jpeg,
        [&](int width, int height, FrameView& target) {
          target = out;
          return check_frame_size(out, width, height);
        },
        [&](ColorModel model, ChromaUpsampling upsampling, const FrameView& frame) {
          return pipeline_.finish_frame(model, upsampling, frame);
        },
        window_);
    if (!report) return report.status();
    return log_.read(pipeline_.stream(), steps);
  }

 private:
  const DecodeParams params_;
  HostWindow window_;
  EventLog<const char*> log_;  // string literals
  Pipeline pipeline_;          // destroyed first: it waits for the stream
};

template <typename Pipeline>
Result<std::unique_ptr<StepDecoder>> make(const DecodeParams& params) {
  const DeviceGuard guard(params.device);
  ZR_TRY(guard.status());
  auto decoder = std::make_unique<CudaStepDecoder<Pipeline>>(params);
  ZR_TRY(decoder->create());
  return std::unique_ptr<StepDecoder>(std::move(decoder));
}

}  // namespace

Result<std::unique_ptr<StepDecoder>> make_fused_step_decoder(const DecodeParams& params) {
  return make<FusedDecodePipeline>(params);
}

Result<std::unique_ptr<StepDecoder>> make_staged_step_decoder(const DecodeParams& params,
                                                              const ConstFrameView& /*like*/) {
  return make<StagedDecodePipeline>(params);
}

}  // namespace zerorun
