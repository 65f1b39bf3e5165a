// Whether an NVIDIA driver seems to be there, from its device files.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace zerorun {

/// Looks into the folder of device files, "/dev": the driver makes nvidia0, nvidia1, ... for its
/// GPUs, dxg under WSL, and nvhost-* or nvgpu on boards with a GPU of their own. `visible` is the
/// value of CUDA_VISIBLE_DEVICES or null; an empty value and -1 hide all devices.
bool has_driver_files(const std::string& folder, const char* visible);

}  // namespace zerorun
