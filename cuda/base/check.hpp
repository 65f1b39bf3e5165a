// From CUDA's errors to Status.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include "codec/base/try.hpp"
#include "zerorun/status.hpp"

namespace zerorun {

/// out_of_memory or device_failure, naming the call and CUDA's reason. An error that spoils the
/// context (a fault in a kernel) comes back from every later call; any other is forgotten here, so
/// that the next launch check does not report it again.
Status cuda_failure(cudaError_t error, const char* call);

}  // namespace zerorun

/// Returns from the function with a Status if the CUDA call fails.
#define ZR_CUDA_TRY(call)                                             \
  do {                                                                \
    if (const cudaError_t zr_error = (call); zr_error != cudaSuccess) \
      return ::zerorun::cuda_failure(zr_error, #call);                \
  } while (false)

/// The check behind a kernel launch, by the kernel's name.
#define ZR_LAUNCH_TRY(kernel)                                                     \
  do {                                                                            \
    if (const cudaError_t zr_error = cudaGetLastError(); zr_error != cudaSuccess) \
      return ::zerorun::cuda_failure(zr_error, kernel);                           \
  } while (false)
