// Owners of what CUDA hands out.
// SPDX-License-Identifier: MIT
#include "cuda/memory.hpp"

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

}  // namespace zerorun
