// Decoders into device memory, and the plain copies that nothing on these paths can beat.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <utility>

#include "apps/bench/measure/device.hpp"
#include "apps/bench/measure/host_coders.hpp"
#include "zerorun/cuda.hpp"

namespace zerorun::app::bench {

/// Streams in host memory, pinned or not, to device frames.
class DecodeRunner final : public DeviceRunner {
 public:
  /// `like` outlives the runner.
  DecodeRunner(const DecodeParams& params, const FrameSet* like, SharedHostData data)
      : DeviceRunner(params.device), params_(params), like_(like), data_(std::move(data)) {}

  Status open() override {
    ZR_TRY(DeviceRunner::open());
    ZR_TRY(store(DeviceDecoder::create(params_), decoder_));
    return store(DeviceFrames::overlaid(*like_, params_.device), frames_);
  }
  Status start(std::size_t index) override {
    last_ = index;
    return decoder_->decode(data_->stream(index), frames_->view(index), cuda_stream()).status();
  }
  Status picture(std::size_t /*place*/, const FrameView& out) override {
    return frames_->download(last_, out);
  }

 private:
  const DecodeParams params_;
  const FrameSet* const like_;
  SharedHostData data_;
  std::optional<DeviceDecoder> decoder_;
  SharedDeviceFrames frames_;
  std::size_t last_ = 0;
};

/// Plain copies over the bus and in device memory.
class CopyRunner : public DeviceRunner {
 public:
  CopyRunner(int device, CudaMemory from, CudaMemory to, std::size_t bytes)
      : DeviceRunner(device), from_memory_(from), to_memory_(to), bytes_(bytes) {}

  Status open() override {
    ZR_TRY(DeviceRunner::open());
    ZR_TRY(from_.allocate(bytes_, from_memory_));
    return to_.allocate(bytes_, to_memory_);
  }
  Status start(std::size_t) override {
    ZR_CUDA_TRY(
        cudaMemcpyAsync(to_.data(), from_.data(), bytes_, cudaMemcpyDefault, cuda_stream()));
    return Status::ok();
  }

 private:
  const CudaMemory from_memory_, to_memory_;
  const std::size_t bytes_;
  CudaArray<std::byte> from_, to_;
};

/// For a thread of its own: one copy after another.
class PacedCopyRunner final : public CopyRunner {
 public:
  using CopyRunner::CopyRunner;
  Status start(std::size_t index) override {
    ZR_TRY(CopyRunner::start(index));
    return finish();
  }
};

}  // namespace zerorun::app::bench
