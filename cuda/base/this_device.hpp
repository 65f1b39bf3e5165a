// The limits of a device of this machine; asked of CUDA once.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include "cuda/base/device_limits.hpp"
#include "zerorun/status.hpp"

namespace zerorun {

/// What the limits are, and what the device itself has, which differs under set_test_capability().
struct KnownDevice {
  DeviceLimits limits, real;
};

/// Of the device that is current. cudaErrorInvalidValue: a test chose no capability of
/// kCapabilities. Thread-safe; `out` stays valid.
cudaError_t current_device(const KnownDevice*& out);

/// The architecture that the code was compiled for which the current device runs, 10 * major +
/// minor. It is older than the device where the driver compiles PTX. That code does not wait for
/// the kernel before it, so it must not be launched before that one has ended.
cudaError_t architecture_of_code(int& capability);

/// The same as a Status.
Result<DeviceLimits> current_limits();

/// For launches under pretended limits: checks what the kernel takes, and raises `shared_bytes` so
/// far that a processor holds only as many CTAs as the pretended one.
cudaError_t pretend(const KnownDevice& device, const void* kernel, unsigned threads,
                    std::size_t& shared_bytes);

// For tests: devices that have no more than those of another compute capability.

/// 86 or another of kCapabilities: every device has no more than a device of that capability.
/// Kernels are refused, and processors hold as few CTAs, as there. 0: devices are what they are.
/// Any other number: no device can be used. To be called before anything asks for a device.
void set_test_capability(int capability);
int test_capability();

}  // namespace zerorun
