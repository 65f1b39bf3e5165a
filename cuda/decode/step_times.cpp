// Decoders with an event before each step: the product's from a stream in host memory to a device
// frame, the staged one from pinned to pinned host memory. The product launches each kernel
// so that it begins while the one before it ends; an event between them prevents that, so the sum
// of its steps is more than a frame takes.
// SPDX-License-Identifier: MIT
#include "codec/pipeline/step_times.hpp"

#include "codec/base/place_planes.hpp"
#include "codec/pipeline/decode_walk.hpp"
#include "cuda/base/event_log.hpp"
#include "cuda/decode/cuda_decode_pipeline.hpp"
#include "cuda/stages/staged_decoder.hpp"

namespace zerorun {
namespace {

/// StagedDecoder as a pipeline for frames in device memory.
class StagedDecodePipeline final : public DecodePipeline {
 public:
  StagedDecodePipeline(int, int threads) : image_(threads) {}
  Status create() {
    ZR_TRY(image_.create());
    return decoder_.create();
  }
  void use_device_frames(cudaStream_t stream, const std::uint8_t* /*device_jpeg*/) {
    image_.use_device_frames(stream);
  }
  void observe(StepProbe probe) { probe_ = std::move(probe); }

  Status begin_planes(const FrameHeader& frame, const FrameView* direct, bool luma_only) override {
    return image_.begin(frame, direct, luma_only);
  }
  Status decode_scan(const ScanHeader& scan, std::span<const std::uint8_t> data,
                     ScanOutcome& outcome) override {
    const auto sent = data.first(scan_extent(data));
    const std::uint8_t* on_device = nullptr;
    ZR_TRY(announce(probe_, "upload"));
    ZR_TRY(upload_.enqueue(sent, image_.stream(), on_device));
    return decoder_.decode_planes({scan, {on_device, sent.size()}, image_.exec(), probe_},
                                  image_.open(scan).data(), outcome);
  }
  Status finish_device_frame(ColorModel model, ChromaUpsampling upsampling, const FrameView& out) {
    return image_.write_device_frame(model, upsampling, out);
  }

  Status begin_coefficients(std::vector<ComponentCoefficients>&) override { return none(); }
  Status finish_frame(ColorModel, ChromaUpsampling, const FrameView&) override { return none(); }
  Status finish_planes(std::vector<ComponentPlane>&) override { return none(); }
  Status finish_coefficients() override { return none(); }

 private:
  static Status none() {
    return Status(Errc::invalid_argument, "the staged decoder makes device frames alone");
  }

  StepProbe probe_;
  StagedDecoder decoder_;
  ScanUpload upload_;
  DeviceImage image_;  ///< the first to be destroyed: it waits for its stream
};

template <typename Pipeline>
class CudaStepDecoder final : public StepDecoder {
 public:
  explicit CudaStepDecoder(const DecodeParams& params)
      : params_(params), pipeline_(params.device, params.threads) {}

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
  EventLog<const char*> log_;  // string literals
  Pipeline pipeline_;          // destroyed first: it waits for the stream
};

template <typename Pipeline>
Result<std::unique_ptr<StepDecoder>> make(const DecodeParams& params, const ConstFrameView* like) {
  const DeviceGuard guard(params.device);
  ZR_TRY(guard.status());
  auto decoder = std::make_unique<CudaStepDecoder<Pipeline>>(params);
  ZR_TRY(decoder->create());
  if (like != nullptr) ZR_TRY(decoder->download_frames(*like));
  return std::unique_ptr<StepDecoder>(std::move(decoder));
}

}  // namespace

Result<std::unique_ptr<StepDecoder>> make_fused_step_decoder(const DecodeParams& params) {
  return make<CudaDecodePipeline>(params, nullptr);
}

Result<std::unique_ptr<StepDecoder>> make_staged_step_decoder(const DecodeParams& params,
                                                              const ConstFrameView& like) {
  return make<StagedDecodePipeline>(params, &like);
}

}  // namespace zerorun
