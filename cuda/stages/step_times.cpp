// The staged coders from pinned to pinned host memory, with an event before each stage and copy.
// SPDX-License-Identifier: MIT
#include "codec/pipeline/step_times.hpp"

#include "codec/pipeline/decode_walk.hpp"
#include "codec/pipeline/encode_setup.hpp"
#include "cuda/base/event_log.hpp"
#include "cuda/stages/staged_decode_pipeline.hpp"
#include "cuda/stages/staged_encoder.hpp"

namespace zerorun {
namespace {

/// What both directions need: a device frame, a stream and the events on it.
class StagedSteps {
 protected:
  explicit StagedSteps(int device) : device_(device) {}

  /// Frames have the format and the size of `like`.
  Status create(const ConstFrameView& like) {
    frame_ = {like.format, like.width, like.height, {}, {}};
    for (int p = 0; p < plane_count(like.format); ++p) {
      const auto plane = static_cast<std::size_t>(p);
      const std::size_t row_bytes = plane_row_bytes(like.format, p, like.width);
      const std::size_t pitch = (row_bytes + kPitchAlign - 1) & ~(kPitchAlign - 1);
      ZR_TRY(memory_[p].reserve(static_cast<std::int64_t>(pitch) *
                                plane_rows(like.format, p, like.height)));
      frame_.data[plane] = memory_[p].data();
      frame_.stride_bytes[plane] = static_cast<std::ptrdiff_t>(pitch);
    }
    return stream_.create();
  }

  /// Between host and device memory; enqueued.
  Status copy(const ConstFrameView& from, const FrameView& to) {
    for (int p = 0; p < plane_count(from.format); ++p) {
      const auto plane = static_cast<std::size_t>(p);
      ZR_CUDA_TRY(
          cudaMemcpy2DAsync(to.data[plane], static_cast<std::size_t>(to.stride_bytes[plane]),
                            from.data[plane], static_cast<std::size_t>(from.stride_bytes[plane]),
                            plane_row_bytes(from.format, p, from.width),
                            static_cast<std::size_t>(plane_rows(from.format, p, from.height)),
                            cudaMemcpyDefault, stream_.get()));
    }
    return Status::ok();
  }
  Status mark(const char* step) { return log_.mark(stream_.get(), step); }

  /// As cudaMallocPitch places rows.
  static constexpr std::size_t kPitchAlign = 256;

  const int device_;
  DeviceBuffer<std::uint8_t> memory_[3];
  FrameView frame_;
  Stream stream_;
  EventLog log_;
};

class StagedStepEncoder final : public StepEncoder, StagedSteps {
 public:
  explicit StagedStepEncoder(int device) : StagedSteps(device) {}

  Status create(const EncodeParams& params, const ConstFrameView& like) {
    auto setup = make_encode_setup(params, like.format, like.width, like.height);
    if (!setup) return setup.status();
    setup_ = *std::move(setup);
    const DeviceGuard guard(device_);
    ZR_TRY(guard.status());
    return StagedSteps::create(like);
  }

  Result<std::uint64_t> encode(const ConstFrameView& frame, std::span<std::byte> out,
                               std::vector<StepTime>& steps) override {
    const DeviceGuard guard(device_);
    ZR_TRY(guard.status());
    ZR_TRY(mark("upload"));
    ZR_TRY(copy(frame, frame_));
    ZR_TRY(encoder_.enqueue(setup_, frame_, stream_.get(), [this](const char* step) {
      return mark(*step == '\0' ? "size to the host" : step);
    }));
    std::uint64_t bytes = 0;
    ZR_CUDA_TRY(cudaMemcpyAsync(&bytes, encoder_.arrays().scan_bytes, sizeof bytes,
                                cudaMemcpyDeviceToHost, stream_.get()));
    ZR_CUDA_TRY(cudaStreamSynchronize(stream_.get()));
    if (bytes > out.size()) return Status(Errc::output_too_small);
    ZR_TRY(mark("download"));
    ZR_CUDA_TRY(cudaMemcpyAsync(out.data(), encoder_.arrays().scan, bytes, cudaMemcpyDeviceToHost,
                                stream_.get()));
    ZR_TRY(mark("end"));
    ZR_TRY(log_.read(stream_.get(), steps));
    return bytes;
  }

 private:
  EncodeSetup setup_{};
  StagedEncoder encoder_;
};

class StagedStepDecoder final : public StepDecoder, StagedSteps {
 public:
  explicit StagedStepDecoder(const DecodeParams& params)
      : StagedSteps(params.device), params_(params), pipeline_(params.device) {}

  Status create(const ConstFrameView& like) {
    const DeviceGuard guard(device_);
    ZR_TRY(guard.status());
    ZR_TRY(StagedSteps::create(like));
    ZR_TRY(pipeline_.create());
    const cudaStream_t stream = stream_.get();
    pipeline_.work_on(&stream, nullptr, nullptr);
    pipeline_.observe(
        [this](const char* step) { return mark(*step == '\0' ? "outcome to the host" : step); });
    return Status::ok();
  }

  Status decode(std::span<const std::byte> jpeg, const FrameView& out,
                std::vector<StepTime>& steps) override {
    const DeviceGuard guard(device_);
    ZR_TRY(guard.status());
    const auto report = walk_frame(
        pipeline_, params_, jpeg,
        [&](int width, int height, FrameView& target) {
          target = frame_;
          return check_frame_size(frame_, width, height);
        },
        [&](ColorModel model, ChromaUpsampling upsampling, const FrameView& target) -> Status {
          ZR_TRY(mark("color_upsample"));
          ZR_TRY(pipeline_.finish_device_frame(model, upsampling, target));
          ZR_TRY(mark("download"));
          ZR_TRY(copy(target, out));
          return mark("end");
        });
    if (!report) return report.status();
    return log_.read(stream_.get(), steps);
  }

 private:
  DecodeParams params_;
  StagedDecodePipeline pipeline_;  // destroyed first: it waits for the stream
};

}  // namespace

Result<std::unique_ptr<StepEncoder>> make_staged_step_encoder(const EncodeParams& params,
                                                              const ConstFrameView& like) {
  auto encoder = std::make_unique<StagedStepEncoder>(params.device);
  ZR_TRY(encoder->create(params, like));
  return std::unique_ptr<StepEncoder>(std::move(encoder));
}

Result<std::unique_ptr<StepDecoder>> make_staged_step_decoder(const DecodeParams& params,
                                                              const ConstFrameView& like) {
  auto decoder = std::make_unique<StagedStepDecoder>(params);
  ZR_TRY(decoder->create(like));
  return std::unique_ptr<StepDecoder>(std::move(decoder));
}

}  // namespace zerorun
