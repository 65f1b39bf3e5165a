// Owners of CUDA objects: memory of devices and of the host, streams, events.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>

#include "codec/base/try.hpp"
#include "zerorun/status.hpp"

namespace zerorun::app::bench {

/// out_of_memory or device_failure, naming the call and CUDA's reason.
Status cuda_failure(cudaError_t error, const char* call);

/// The check after a kernel launch. `kernel`: its name, for the message.
inline Status launched(const char* kernel) {
  const cudaError_t error = cudaGetLastError();
  return error == cudaSuccess ? Status::ok() : cuda_failure(error, kernel);
}

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
  /// Keeps memory that is large enough. Otherwise the old goes first, so that both never exist at
  /// once.
  Status reserve(std::size_t size, CudaMemory memory) {
    if (size <= size_) return Status::ok();
    data_.reset();
    size_ = 0;
    return allocate(size, memory);
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

}  // namespace zerorun::app::bench
