// A kernel must be allowed to ask for more than 48 KiB of dynamic shared memory. It is allowed as
// much as the launches so far needed, and no more.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <map>
#include <mutex>

#include "zerorun/status.hpp"

namespace zerorun {

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
