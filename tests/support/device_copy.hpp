// Host memory -> device memory, there when the call returns.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace zerorun::test {

/// From pageable memory cudaMemcpy() may return while the bytes are still on their way in the
/// default stream, and streams that do not wait for that one (cudaStreamNonBlocking) would read
/// what was there before.
inline cudaError_t copy_to_device(void* to, const void* from, std::size_t bytes) {
  const cudaError_t error = cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice);
  return error == cudaSuccess ? cudaStreamSynchronize(cudaStreamLegacy) : error;
}

}  // namespace zerorun::test
