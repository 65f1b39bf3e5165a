// Encoders with an event before each step: the product's from device frames to a stream in device
// memory, the staged one from pinned to pinned host memory. The product launches each kernel so
// that it begins while the one before it ends; an event between them prevents that, so the sum of
// its steps is more than a frame takes.
// SPDX-License-Identifier: MIT
#include "codec/pipeline/step_times.hpp"

#include "codec/pipeline/encode_setup.hpp"
#include "cuda/base/event_log.hpp"
#include "cuda/encode/frame_encoder.hpp"
#include "cuda/encode/frame_upload.hpp"
#include "cuda/stages/staged_encoder.hpp"

namespace zerorun {
namespace {

/// The steps of an encoder end up in an event log of its own stream.
class CudaStepEncoder : public StepEncoder {
 public:
  explicit CudaStepEncoder(int device) : device_(device) {}

  virtual Status create(const EncodeParams& params, const ConstFrameView& like) {
    auto setup = make_encode_setup(params, like.format, like.width, like.height);
    if (!setup) return setup.status();
    setup_ = *std::move(setup);
    return stream_.create();
  }

  Result<std::uint64_t> encode(const ConstFrameView& frame, std::span<std::byte> out,
                               std::vector<StepTime>& steps) final {
    const DeviceGuard guard(device_);
    ZR_TRY(guard.status());
    std::uint64_t bytes = 0;
    ZR_TRY(run(frame, out, bytes));
    ZR_TRY(log_.read(stream_.get(), steps));
    return bytes;
  }

 protected:
  virtual Status run(const ConstFrameView& frame, std::span<std::byte> out,
                     std::uint64_t& bytes) = 0;
  Status mark(const char* step) { return log_.mark(stream_.get(), step); }
  /// Reads a number of device memory when the work enqueued before is done.
  Status read(const std::uint64_t* from, std::uint64_t& value) {
    ZR_CUDA_TRY(cudaMemcpyAsync(&value, from, sizeof value, cudaMemcpyDeviceToHost, stream_.get()));
    ZR_CUDA_TRY(cudaStreamSynchronize(stream_.get()));
    return Status::ok();
  }

  const int device_;
  EncodeSetup setup_{};
  Stream stream_;
  EventLog<const char*> log_;  // string literals
};

class FusedStepEncoder final : public CudaStepEncoder {
 public:
  using CudaStepEncoder::CudaStepEncoder;

  Status create(const EncodeParams& params, const ConstFrameView& like) override {
    ZR_TRY(CudaStepEncoder::create(params, like));
    encoder_.set_header(params, setup_);
    return size_.reserve(1);
  }

 private:
  Status run(const ConstFrameView& frame, std::span<std::byte> out, std::uint64_t& bytes) override {
    const FrameOutput output{reinterpret_cast<std::uint8_t*>(out.data()), out.size(), size_.data()};
    ZR_TRY(encoder_.enqueue(setup_, frame, output, stream_.get(), [this](const char* step) {
      return mark(*step == '\0' ? "end" : step);
    }));
    return read(size_.data(), bytes);
  }

  DeviceBuffer<std::uint64_t> size_;
  FrameEncoder encoder_;
};

class StagedStepEncoder final : public CudaStepEncoder {
 public:
  using CudaStepEncoder::CudaStepEncoder;

 private:
  Status run(const ConstFrameView& frame, std::span<std::byte> out, std::uint64_t& bytes) override {
    ConstFrameView on_device;
    ZR_TRY(mark("upload"));
    ZR_TRY(upload_.enqueue(frame, setup_.layout.components, stream_.get(), on_device));
    ZR_TRY(encoder_.enqueue(setup_, on_device, stream_.get(), [this](const char* step) {
      return mark(*step == '\0' ? "size to the host" : step);
    }));
    ZR_TRY(read(encoder_.arrays().scan_bytes, bytes));
    if (bytes > out.size()) return Status(Errc::output_too_small);
    ZR_TRY(mark("download"));
    ZR_CUDA_TRY(cudaMemcpyAsync(out.data(), encoder_.arrays().scan, bytes, cudaMemcpyDeviceToHost,
                                stream_.get()));
    return mark("end");
  }

  FrameUpload upload_;
  StagedEncoder encoder_;
};

template <typename Encoder>
Result<std::unique_ptr<StepEncoder>> make(const EncodeParams& params, const ConstFrameView& like) {
  const DeviceGuard guard(params.device);
  ZR_TRY(guard.status());
  auto encoder = std::make_unique<Encoder>(params.device);
  ZR_TRY(encoder->create(params, like));
  return std::unique_ptr<StepEncoder>(std::move(encoder));
}

}  // namespace

Result<std::unique_ptr<StepEncoder>> make_fused_step_encoder(const EncodeParams& params,
                                                             const ConstFrameView& like) {
  return make<FusedStepEncoder>(params, like);
}

Result<std::unique_ptr<StepEncoder>> make_staged_step_encoder(const EncodeParams& params,
                                                              const ConstFrameView& like) {
  return make<StagedStepEncoder>(params, like);
}

}  // namespace zerorun
