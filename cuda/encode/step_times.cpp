// Encoders with an event before each step: the product's from device frames to a stream in device
// memory, the staged one from pinned to pinned host memory. The product launches each kernel so
// that it begins while the one before it ends; an event between them prevents that, so the sum of
// its steps is more than a frame takes.
// SPDX-License-Identifier: MIT
#include "codec/base/step_times.hpp"

#include "codec/pipeline/encode_pipeline.hpp"
#include "cuda/base/span_clock.hpp"
#include "cuda/encode/frame_encoder.hpp"
#include "cuda/encode/frame_upload.hpp"
#include "cuda/stages/staged_encoder.hpp"

namespace zerorun {
namespace {

class CudaStepEncoder final : public StepEncoder {
 public:
  CudaStepEncoder(int device, bool is_staged) : device_(device), is_staged_(is_staged) {}

  Status create(const EncodeParams& params, const ConstFrameView& like) {
    ZR_LET(setup, make_encode_setup(params, like.format, like.width, like.height));
    setup_ = setup;
    fused_.set_header(params, setup_);
    ZR_TRY(size_.reserve(1));
    return stream_.create();
  }

  Result<std::uint64_t> encode(const ConstFrameView& frame, std::span<std::byte> out,
                               std::vector<StepTime>& steps) override {
    const DeviceGuard guard(device_);
    ZR_TRY(guard.status());
    std::uint64_t bytes = 0;
    ZR_TRY(is_staged_ ? run_staged(frame, out, bytes) : run_fused(frame, out, bytes));
    ZR_TRY(log_.read(stream_.get(), steps));
    return bytes;
  }

 private:
  Status run_fused(const ConstFrameView& frame, std::span<std::byte> out, std::uint64_t& bytes) {
    const FrameOutput output{reinterpret_cast<std::uint8_t*>(out.data()), out.size(), size_.data()};
    ZR_TRY(fused_.enqueue(setup_, frame, output, stream_.get(),
                          [this](const char* step) { return mark(*step == '\0' ? "end" : step); }));
    return read(size_.data(), bytes);
  }

  Status run_staged(const ConstFrameView& frame, std::span<std::byte> out, std::uint64_t& bytes) {
    ConstFrameView on_device;
    ZR_TRY(mark("upload"));
    ZR_TRY(upload_.enqueue(frame, setup_.layout.components, stream_.get(), on_device));
    ZR_TRY(staged_.enqueue(setup_, on_device, stream_.get(), [this](const char* step) {
      return mark(*step == '\0' ? "size to the host" : step);
    }));
    ZR_TRY(read(staged_.arrays().scan_bytes, bytes));
    if (bytes > out.size()) return Status(Errc::output_too_small);
    ZR_TRY(mark("download"));
    ZR_CUDA_TRY(cudaMemcpyAsync(out.data(), staged_.arrays().scan, bytes, cudaMemcpyDeviceToHost,
                                stream_.get()));
    return mark("end");
  }

  Status mark(const char* step) { return log_.mark(stream_.get(), step); }
  /// Reads a number of device memory when the work enqueued before is done.
  Status read(const std::uint64_t* from, std::uint64_t& value) {
    ZR_CUDA_TRY(cudaMemcpyAsync(&value, from, sizeof value, cudaMemcpyDeviceToHost, stream_.get()));
    return ZR_CUDA_STATUS(cudaStreamSynchronize(stream_.get()));
  }

  const int device_;
  const bool is_staged_;
  EncodeSetup setup_{};
  Stream stream_;
  EventLog<const char*> log_;  // string literals
  DeviceBuffer<std::uint64_t> size_;
  FrameEncoder fused_;
  FrameUpload upload_;
  StagedEncoder staged_;
};

}  // namespace

Result<std::unique_ptr<StepEncoder>> make_cuda_step_encoder(const EncodeParams& params,
                                                            const ConstFrameView& like,
                                                            bool is_staged) {
  const DeviceGuard guard(params.device);
  ZR_TRY(guard.status());
  auto encoder = std::make_unique<CudaStepEncoder>(params.device, is_staged);
  ZR_TRY(encoder->create(params, like));
  return std::unique_ptr<StepEncoder>(std::move(encoder));
}

}  // namespace zerorun
