// Copies host memory to device memory, and waits until it is there.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace zerorun::test {

/// From pageable memory cudaMemcpy() may return before the default stream has copied all bytes, and
/// streams that do not wait for that stream (cudaStreamNonBlocking) would read old bytes.
inline cudaError_t copy_to_device(void* to, const void* from, std::size_t bytes) {
  const cudaError_t error = cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice);
  return error == cudaSuccess ? cudaStreamSynchronize(cudaStreamLegacy) : error;
}

}  // namespace zerorun::test
