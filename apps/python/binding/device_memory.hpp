// Memory of a GPU from CUDA's pools, in the order of a stream, and the class DeviceArray.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "apps/python/binding/frames.hpp"

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
  int device = 0;
  std::uintptr_t stream = 0;
  int generation = 0;                  ///< a child of fork() leaves it alone
  std::shared_ptr<void> stream_owner;  ///< keeps a stream of Python alive
};

/// The planes of a picture in one block, each at a multiple of 256 bytes.
struct DevicePlanes {
  DevicePlanes(PixelFormat format, int width, int height);
  /// Needs no GIL. Errors: out_of_memory, device_failure.
  Status allocate(int device, std::uintptr_t stream);

  /// An array, or a tuple of them. Needs the GIL.
  nb::object object() const;

  FrameView view;  ///< without memory before allocate()
  std::array<std::size_t, 3> offsets{};
  std::size_t bytes = 0;
  std::shared_ptr<DeviceBlock> block;
};

/// Waits for `stream`. Needs no GIL.
Status copy_to_host(void* to, const void* from, std::size_t bytes, int device,
                    std::uintptr_t stream);

/// What is enqueued on `second` from now on waits for what is on `first`.
Status order_streams(std::uintptr_t first, std::uintptr_t second, int device);

/// Ends the decoders that are kept for the next batch. With the GIL held.
void release_lanes();

}  // namespace zerorun::python
