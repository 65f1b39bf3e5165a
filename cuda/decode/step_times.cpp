// The fused decoder from a stream in host memory to a device frame, with an event before each
// kernel. The kernels are launched so that each begins while the one before it ends; an event
// between them prevents that, so the sum of the steps is more than a frame takes.
// SPDX-License-Identifier: MIT
#include "codec/pipeline/step_times.hpp"

#include "codec/pipeline/decode_walk.hpp"
#include "cuda/base/event_log.hpp"
#include "cuda/decode/fused_decode_pipeline.hpp"

namespace zerorun {
namespace {

class FusedStepDecoder final : public StepDecoder {
 public:
  explicit FusedStepDecoder(const DecodeParams& params)
      : params_(params), pipeline_(params.device) {}

  Status create() {
    const DeviceGuard guard(params_.device);
    ZR_TRY(guard.status());
    ZR_TRY(stream_.create());
    ZR_TRY(pipeline_.create());
    const cudaStream_t stream = stream_.get();
    pipeline_.work_on(&stream, nullptr, nullptr);
    pipeline_.observe(
        [this](const char* step) { return mark(*step == '\0' ? "outcome to the host" : step); });
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
        [&](ColorModel model, ChromaUpsampling upsampling, const FrameView& target) -> Status {
          ZR_TRY(mark("color_upsample"));
          ZR_TRY(pipeline_.finish_device_frame(model, upsampling, target));
          return mark("end");
        });
    if (!report) return report.status();
    return log_.read(stream_.get(), steps);
  }

 private:
  Status mark(const char* step) { return log_.mark(stream_.get(), step); }

  DecodeParams params_;
  Stream stream_;
  EventLog log_;
  FusedDecodePipeline pipeline_;  // destroyed first: it waits for the stream
};

}  // namespace

Result<std::unique_ptr<StepDecoder>> make_fused_step_decoder(const DecodeParams& params) {
  auto decoder = std::make_unique<FusedStepDecoder>(params);
  ZR_TRY(decoder->create());
  return std::unique_ptr<StepDecoder>(std::move(decoder));
}

}  // namespace zerorun
