// What the host side of every primitive shares: scratch layout, launch checks, grid sizes.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "zerorun/cuda_entropy.hpp"

/// Returns from the enclosing function with the CUDA error's own words.
#define ZR_ENTROPY_TRY(call)                                                            \
  do {                                                                                  \
    const cudaError_t zr_error = (call);                                                \
    if (zr_error != cudaSuccess) return ::zerorun::cuda_entropy::cuda_status(zr_error); \
  } while (false)

namespace zerorun::cuda_entropy {

inline Status cuda_status(cudaError_t error) {
  return Status(error == cudaErrorMemoryAllocation ? Errc::out_of_memory : Errc::device_failure,
                std::string(cudaGetErrorName(error)) + ": " + cudaGetErrorString(error));
}

constexpr std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) { return a / b + (a % b != 0); }

/// Hands out aligned pieces of the caller's scratch, or only adds them up when there is none yet.
class Scratch {
 public:
  explicit Scratch(void* base) : base_(static_cast<char*>(base)) {}

  template <typename T>
  T* take(std::uint64_t count) {
    const std::size_t at = bytes_;
    bytes_ = (at + count * sizeof(T) + kAlign - 1) / kAlign * kAlign;
    return base_ == nullptr ? nullptr : reinterpret_cast<T*>(base_ + at);
  }

  bool measuring() const { return base_ == nullptr; }

  /// Sets the size when measuring; otherwise checks it.
  Status settle(std::size_t& scratch_bytes) const {
    if (measuring()) {
      scratch_bytes = std::max(bytes_, kAlign);  // never 0: a null pointer would measure again
      return Status::ok();
    }
    if (scratch_bytes < bytes_)
      return Status(Errc::invalid_argument, "the scratch memory is smaller than the call needs");
    if (reinterpret_cast<std::uintptr_t>(base_) % kAlign != 0)
      return Status(Errc::invalid_argument, "the scratch memory is not aligned to 256 bytes");
    return Status::ok();
  }

 private:
  static constexpr std::size_t kAlign = 256;
  char* base_;
  std::size_t bytes_ = 0;
};

/// Clears `words` 64-bit words of state and sets an outcome without fault.
cudaError_t reset(void* state, std::uint64_t words, Outcome* outcome, cudaStream_t stream);

/// CTAs that fill the device once, but not more than there is work for.
template <typename Kernel>
cudaError_t persistent_grid(Kernel kernel, int threads, std::size_t shared_bytes,
                            std::uint64_t work, unsigned& grid) {
  int device = 0, processors = 0, per_processor = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess)
    error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
  if (error == cudaSuccess)
    error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_processor, kernel, threads,
                                                          shared_bytes);
  const auto most = static_cast<std::uint64_t>(std::max(1, processors * per_processor));
  grid = static_cast<unsigned>(std::clamp<std::uint64_t>(work, 1, most));
  return error;
}

}  // namespace zerorun::cuda_entropy
