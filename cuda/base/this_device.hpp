// The limits of a device of this machine, asked of CUDA once; and the shared memory of kernels.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <map>
#include <mutex>

#include "cuda/base/device_limits.hpp"
#include "zerorun/status.hpp"

namespace zerorun {

/// Gives the limits of the device that is current. Thread-safe; `out` stays valid.
cudaError_t current_device(const DeviceLimits*& out);

/// The architecture that the code was compiled for which the current device runs, 10 * major +
/// minor. It is older than the device where the driver compiles PTX. That code does not wait for
/// the kernel before it, so it must not be launched before that one has ended.
cudaError_t architecture_of_code(int& capability);

/// The same as a Status.
Result<DeviceLimits> current_limits();

/// For tests: from now on no device can be used. To be called before anything asks for a device.
void set_test_unusable();

// A kernel must be allowed to ask for more than 48 KiB of dynamic shared memory. It is allowed as
// much as the launches so far needed, and no more.

/// One instance per kernel, with static storage, for all devices and threads.
class SharedPermission {
 public:
  explicit SharedPermission(const void* kernel) : kernel_(kernel) {}

  /// For each object that launches the kernel, before the first launch. Gives shared memory as much
  /// of the L1 cache as possible, and restores what cudaDeviceReset() forgets.
  Status prepare();
  /// Lets launches on the current device ask for `bytes`. It is never lowered, because other
  /// threads may be about to launch.
  Status raise(std::size_t bytes);

 private:
  Status allow(std::size_t bytes);

  const void* const kernel_;
  std::mutex mutex_;
  std::map<int, std::size_t> allowed_;  // by device
};

/// That of a kernel.
template <auto kKernel>
SharedPermission& permission_of() {
  static SharedPermission of_kernel(reinterpret_cast<const void*>(kKernel));
  return of_kernel;
}

}  // namespace zerorun
