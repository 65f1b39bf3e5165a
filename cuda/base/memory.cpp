// Owners of what CUDA hands out.
// SPDX-License-Identifier: MIT
#include "cuda/base/memory.hpp"

#include <new>
#include <string>

namespace zerorun {

Status allocation_failure(cudaError_t error, std::size_t bytes, bool pinned) try {
  (void)cudaGetLastError();
  const std::string what =
      std::to_string(bytes) + " bytes of " + (pinned ? "pinned host" : "device") + " memory";
  if (error == cudaErrorMemoryAllocation) return Status(Errc::out_of_memory, what);
  return Status(Errc::device_failure, what + ": " + cudaGetErrorString(error));
} catch (const std::bad_alloc&) {
  return Status(Errc::out_of_memory);
}

bool is_pinned(const void* memory) {
  cudaPointerAttributes attributes{};
  if (cudaPointerGetAttributes(&attributes, memory) == cudaSuccess)
    return attributes.type == cudaMemoryTypeHost;
  (void)cudaGetLastError();  // a question, not a failure
  return false;
}

}  // namespace zerorun
