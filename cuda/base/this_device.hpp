// The limits of a device of this machine; asked of CUDA once.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

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

}  // namespace zerorun
