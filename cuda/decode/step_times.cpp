// Decoders with an event before each step: the product's from a stream in host memory to a device
// frame, the careful one alone from pinned to pinned host memory. The product launches each kernel
// so that it begins while the one before it ends; an event between them prevents that, so the sum
// of its steps is more than a frame takes.
// SPDX-License-Identifier: MIT
#include "codec/pipeline/step_times.hpp"

#include "codec/base/place_planes.hpp"
#include "codec/pipeline/decode_walk.hpp"
#include "cuda/base/event_log.hpp"
#include "cuda/decode/cuda_decode_pipeline.hpp"

namespace zerorun {
namespace {

class CudaStepDecoder final : public StepDecoder {
 public:
  CudaStepDecoder(const DecodeParams& params, ScanDecoders decoders)
      : params_(params), pipeline_(params.device, params.threads, decoders) {}

  Status create() {
    ZR_TRY(stream_.create());
    ZR_TRY(pipeline_.create());
    pipeline_.observe(
        [this](const char* step) { return mark(*step == '\0' ? "outcome to the host" : step); });
    return Status::ok();
  }

  /// From now on frames are host memory, and have the format and the size of `like`.
  Status download_frames(const ConstFrameView& like) {
    frame_ = {like.format, like.width, like.height, {}, {}};
    const std::size_t bytes = place_planes(frame_, nullptr, kPitchAlign);
    ZR_TRY(memory_.reserve(static_cast<std::int64_t>(bytes)));
    place_planes(frame_, memory_.data(), kPitchAlign);
    return Status::ok();
  }

  Status decode(std::span<const std::byte> jpeg, const FrameView& out,
                std::vector<StepTime>& steps) override {
    const DeviceGuard guard(params_.device);
    ZR_TRY(guard.status());
    const bool downloads = frame_.data[0] != nullptr;
    pipeline_.use_device_frames(stream_.get(), nullptr);
    const auto report = walk_frame(
        pipeline_, params_, jpeg,
        [&](int width, int height, FrameView& target) {
          target = downloads ? frame_ : out;
          return check_frame_size(target, width, height);
        },
        [&](ColorModel model, ChromaUpsampling upsampling, const FrameView& target) -> Status {
          ZR_TRY(mark("color_upsample"));
          ZR_TRY(pipeline_.finish_device_frame(model, upsampling, target));
          if (downloads) ZR_TRY(download(out));
          return mark("end");
        });
    if (!report) return report.status();
    return log_.read(stream_.get(), steps);
  }

 private:
  static constexpr std::size_t kPitchAlign = 256;  ///< as cudaMallocPitch places rows

  Status mark(const char* step) { return log_.mark(stream_.get(), step); }

  Status download(const FrameView& out) {
    ZR_TRY(mark("download"));
    for (int p = 0; p < plane_count(frame_.format); ++p) {
      const auto plane = static_cast<std::size_t>(p);
      ZR_CUDA_TRY(cudaMemcpy2DAsync(
          out.data[plane], static_cast<std::size_t>(out.stride_bytes[plane]), frame_.data[plane],
          static_cast<std::size_t>(frame_.stride_bytes[plane]),
          plane_row_bytes(frame_.format, p, frame_.width),
          static_cast<std::size_t>(plane_rows(frame_.format, p, frame_.height)),
          cudaMemcpyDeviceToHost, stream_.get()));
    }
    return Status::ok();
  }

  const DecodeParams params_;
  DeviceBuffer<std::uint8_t> memory_;
  FrameView frame_;  ///< in device memory; empty where frames are not downloaded
  Stream stream_;
  EventLog<const char*> log_;    // string literals
  CudaDecodePipeline pipeline_;  // destroyed first: it waits for the stream
};

Result<std::unique_ptr<StepDecoder>> make(const DecodeParams& params, ScanDecoders decoders,
                                          const ConstFrameView* like) {
  const DeviceGuard guard(params.device);
  ZR_TRY(guard.status());
  auto decoder = std::make_unique<CudaStepDecoder>(params, decoders);
  ZR_TRY(decoder->create());
  if (like != nullptr) ZR_TRY(decoder->download_frames(*like));
  return std::unique_ptr<StepDecoder>(std::move(decoder));
}

}  // namespace

Result<std::unique_ptr<StepDecoder>> make_fused_step_decoder(const DecodeParams& params) {
  return make(params, ScanDecoders::both, nullptr);
}

Result<std::unique_ptr<StepDecoder>> make_staged_step_decoder(const DecodeParams& params,
                                                              const ConstFrameView& like) {
  return make(params, ScanDecoders::careful_only, &like);
}

}  // namespace zerorun
