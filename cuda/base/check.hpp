// From CUDA's errors to Status.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include "codec/base/try.hpp"
#include "zerorun/status.hpp"

namespace zerorun {

/// out_of_memory or device_failure, with the name of the call and CUDA's reason. An error that
/// spoils the context (a fault in a kernel) comes back from every later call; any other error is
/// cleared here, so that the next launch check does not report it again.
Status cuda_failure(cudaError_t error, const char* call);

inline Status cuda_status(cudaError_t error, const char* call) {
  return error == cudaSuccess ? Status::ok() : cuda_failure(error, call);
}

/// For calls whose failure changes nothing, such as those of destructors: the next launch check
/// must not report it.
inline void ignore_failure(cudaError_t error) noexcept {
  if (error != cudaSuccess) (void)cudaGetLastError();
}

}  // namespace zerorun

/// Returns from the function with a Status if the CUDA call fails.
#define ZR_CUDA_TRY(call)                                             \
  do {                                                                \
    if (const cudaError_t zr_error = (call); zr_error != cudaSuccess) \
      return ::zerorun::cuda_failure(zr_error, #call);                \
  } while (false)

/// The Status of a CUDA call, for the end of a function.
#define ZR_CUDA_STATUS(call) ::zerorun::cuda_status((call), #call)

/// The check after a kernel launch. `kernel`: its name, for the message.
#define ZR_LAUNCH_TRY(kernel)                                                     \
  do {                                                                            \
    if (const cudaError_t zr_error = cudaGetLastError(); zr_error != cudaSuccess) \
      return ::zerorun::cuda_failure(zr_error, kernel);                           \
  } while (false)

/// Launches a kernel without dynamic shared memory and checks the launch.
#define ZR_LAUNCH(kernel, grid, threads, stream, ...)  \
  do {                                                 \
    kernel<<<grid, threads, 0, stream>>>(__VA_ARGS__); \
    ZR_LAUNCH_TRY(#kernel);                            \
  } while (false)
