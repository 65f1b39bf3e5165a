// Devices and pinned memory of the CUDA backend; defined in cuda/base, called by
// codec/api/backend.cpp alone, which knows whether CUDA was built.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "zerorun/backend.hpp"

namespace zerorun {

std::vector<DeviceInfo> cuda_backend_devices();

/// Errors: no_device.
Result<DeviceInfo> cuda_backend_device(int device);

/// Whether this build can use the device. Starts no other device. Errors: no_device,
/// device_unsuitable.
Status cuda_backend_check(int device);

/// Why cuda_backend_devices() is empty, in the driver's words.
std::string cuda_backend_absence();

/// Pinned memory that every device can use. Errors: no_device, out_of_memory, device_failure.
Result<std::byte*> cuda_allocate_pinned(std::size_t bytes);
void cuda_release_pinned(std::byte* memory) noexcept;

}  // namespace zerorun
