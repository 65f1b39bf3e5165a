// What coders on a GPU share: owners of CUDA objects, frames in device memory, runners on a stream.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "apps/bench/measure/measure.hpp"
#include "codec/base/try.hpp"
#include "zerorun/status.hpp"

namespace zerorun::app::bench {

/// out_of_memory or device_failure, naming the call and CUDA's reason.
Status cuda_failure(cudaError_t error, const char* call);

/// Returns from the function with a Status if the CUDA call fails.
#define ZR_CUDA_TRY(call)                                             \
  do {                                                                \
    if (const cudaError_t zr_error = (call); zr_error != cudaSuccess) \
      return ::zerorun::app::bench::cuda_failure(zr_error, #call);    \
  } while (false)

enum class CudaMemory {
  device,  ///< of the current device
  pinned,  ///< of the host, readable and writable by devices
};

template <typename T>
class CudaArray {
 public:
  /// Contents are undefined.
  Status allocate(std::size_t size, CudaMemory memory) {
    void* data = nullptr;
    if (memory == CudaMemory::device) {
      ZR_CUDA_TRY(cudaMalloc(&data, size * sizeof(T)));
      data_ = {static_cast<T*>(data), cudaFree};
    } else {
      ZR_CUDA_TRY(cudaMallocHost(&data, size * sizeof(T)));
      data_ = {static_cast<T*>(data), cudaFreeHost};
    }
    size_ = size;
    return Status::ok();
  }
  T* data() const noexcept { return data_.get(); }
  std::size_t size() const noexcept { return size_; }

 private:
  std::unique_ptr<T, cudaError_t (*)(void*)> data_{nullptr, cudaFree};
  std::size_t size_ = 0;
};

struct CudaDestroy {
  void operator()(cudaStream_t stream) const { (void)cudaStreamDestroy(stream); }
  void operator()(cudaEvent_t event) const { (void)cudaEventDestroy(event); }
};
using StreamOwner = std::unique_ptr<CUstream_st, CudaDestroy>;
using EventOwner = std::unique_ptr<CUevent_st, CudaDestroy>;

/// A stream of the current device that does not wait for the default stream.
Status make_stream(StreamOwner& stream);
/// An event without a time.
Status make_event(EventOwner& event);

/// The frames of a case in device memory. Rows start on 256 bytes, as cudaMallocPitch places them.
class DeviceFrames {
 public:
  /// Copies of the frames.
  static Result<std::shared_ptr<DeviceFrames>> upload(const FrameSet& set, int device);
  /// Memory for one frame at a time, with a view of the shape of each frame of the set over it.
  static Result<std::shared_ptr<DeviceFrames>> overlaid(const FrameSet& set, int device);

  const FrameView& view(std::size_t i) const { return views_[i]; }
  Status download(std::size_t i, const FrameView& out) const;

 private:
  std::vector<CudaArray<std::uint8_t>> memory_;
  std::vector<FrameView> views_;
};
using SharedDeviceFrames = std::shared_ptr<DeviceFrames>;

/// A runner that works on a device, on a stream of its own.
class DeviceRunner : public Runner {
 public:
  explicit DeviceRunner(int device) : device_(device) {}

  Status open() override {
    ZR_TRY(attach());
    return make_stream(stream_);
  }
  Status attach() override {
    ZR_CUDA_TRY(cudaSetDevice(device_));
    return Status::ok();
  }
  Status finish() override {
    ZR_CUDA_TRY(cudaStreamSynchronize(stream_.get()));
    return Status::ok();
  }

 protected:
  cudaStream_t cuda_stream() const noexcept { return stream_.get(); }

 private:
  const int device_;
  StreamOwner stream_;
};

}  // namespace zerorun::app::bench
