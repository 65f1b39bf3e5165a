// Memory of a GPU, allocated and freed in the order of a stream.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "apps/python/binding/arrays.hpp"
#include "zerorun/status.hpp"

namespace zerorun::python {

inline cudaStream_t stream_of(std::uintptr_t handle) {
  return reinterpret_cast<cudaStream_t>(handle);
}

/// ok, or device_failure with the call and CUDA's reason.
Status cuda_status(cudaError_t error, const char* call);

/// Makes a device the thread's current one, and the old one again.
class OnDevice {
 public:
  explicit OnDevice(int device);
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  ~OnDevice();

 private:
  int before_ = 0;
};

/// A piece of device memory. Work enqueued on `stream` before it is freed still sees it.
struct DeviceBlock {
  ~DeviceBlock();

  void* data = nullptr;
  std::size_t bytes = 0;  ///< at least what was asked for
  int device = 0;
  std::uintptr_t stream = 0;
  int generation = 0;                  ///< a child of fork() leaves it alone
  std::shared_ptr<void> stream_owner;  ///< keeps a stream of Python alive
};

/// From a pool of this module, which keeps freed memory. Needs no GIL.
Result<std::shared_ptr<DeviceBlock>> allocate_device_block(std::size_t bytes, int device,
                                                           std::uintptr_t stream);

/// What is enqueued on `second` from now on waits for what is on `first`.
Status order_streams(std::uintptr_t first, std::uintptr_t second, int device);

}  // namespace zerorun::python
