// Pinned host memory for frames and streams outside the backend.
// SPDX-License-Identifier: MIT
#include "codec/base/cuda_device.hpp"
#include "cuda/base/memory.hpp"

namespace zerorun {

Result<std::byte*> cuda_allocate_pinned(std::size_t bytes) {
  int count = 0;
  if (const cudaError_t error = cudaGetDeviceCount(&count); error != cudaSuccess || count == 0) {
    (void)cudaGetLastError();
    return Status(Errc::no_device, cuda_backend_absence());
  }
  void* memory = nullptr;
  const cudaError_t error = cudaHostAlloc(&memory, bytes, cudaHostAllocPortable);
  if (error != cudaSuccess) return allocation_failure(error, bytes, true);
  return static_cast<std::byte*>(memory);
}

void cuda_release_pinned(std::byte* memory) noexcept { (void)cudaFreeHost(memory); }

}  // namespace zerorun
