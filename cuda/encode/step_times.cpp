// The fused encoder from planes to a stream in device memory, with an event before each kernel.
// The kernels are launched so that each begins while the one before it ends; an event between them
// prevents that, so the sum of the steps is more than a frame takes.
// SPDX-License-Identifier: MIT
#include "codec/pipeline/step_times.hpp"

#include "codec/pipeline/encode_setup.hpp"
#include "cuda/base/event_log.hpp"
#include "cuda/encode/fused_encoder.hpp"

namespace zerorun {
namespace {

class FusedStepEncoder final : public StepEncoder {
 public:
  explicit FusedStepEncoder(int device) : device_(device) {}

  Status create(const EncodeParams& params, const ConstFrameView& like) {
    auto setup = make_encode_setup(params, like.format, like.width, like.height);
    if (!setup) return setup.status();
    setup_ = *std::move(setup);
    encoder_.set_header(params, setup_);
    const DeviceGuard guard(device_);
    ZR_TRY(guard.status());
    ZR_TRY(size_.reserve(1));
    return stream_.create();
  }

  Result<std::uint64_t> encode(const ConstFrameView& frame, std::span<std::byte> out,
                               std::vector<StepTime>& steps) override {
    const DeviceGuard guard(device_);
    ZR_TRY(guard.status());
    const FusedOutput output{reinterpret_cast<std::uint8_t*>(out.data()), out.size(), size_.data()};
    ZR_TRY(encoder_.enqueue(setup_, frame, output, stream_.get(), [this](const char* step) {
      return log_.mark(stream_.get(), *step == '\0' ? "end" : step);
    }));
    ZR_TRY(log_.read(stream_.get(), steps));
    std::uint64_t bytes = 0;
    ZR_CUDA_TRY(cudaMemcpy(&bytes, size_.data(), sizeof bytes, cudaMemcpyDeviceToHost));
    return bytes;
  }

 private:
  const int device_;
  EncodeSetup setup_{};
  DeviceBuffer<std::uint64_t> size_;
  Stream stream_;
  EventLog log_;
  FusedEncoder encoder_;
};

}  // namespace

Result<std::unique_ptr<StepEncoder>> make_fused_step_encoder(const EncodeParams& params,
                                                             const ConstFrameView& like) {
  auto encoder = std::make_unique<FusedStepEncoder>(params.device);
  ZR_TRY(encoder->create(params, like));
  return std::unique_ptr<StepEncoder>(std::move(encoder));
}

}  // namespace zerorun
