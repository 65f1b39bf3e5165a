// What the CUDA backend offers to the host library; defined in cuda/, called by backend.cpp alone.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "zerorun/backend.hpp"

namespace zerorun {

std::vector<DeviceInfo> cuda_backend_devices();

/// Why cuda_backend_devices() is empty, in the driver's words.
std::string cuda_backend_absence();

}  // namespace zerorun
