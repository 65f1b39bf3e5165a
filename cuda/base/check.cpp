// From CUDA's errors to Status.
// SPDX-License-Identifier: MIT
#include "cuda/base/check.hpp"

#include <new>
#include <string>

namespace zerorun {

Status cuda_failure(cudaError_t error, const char* call) try {
  (void)cudaGetLastError();
  const Errc code = error == cudaErrorMemoryAllocation ? Errc::out_of_memory : Errc::device_failure;
  // "cudaMalloc(&memory, bytes)" -> "cudaMalloc"
  std::string text(call);
  text = text.substr(0, text.find('('));
  return Status(code, text + ": " + cudaGetErrorString(error));
} catch (const std::bad_alloc&) {
  return Status(Errc::device_failure);
}

}  // namespace zerorun
