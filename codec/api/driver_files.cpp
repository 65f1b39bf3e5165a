// Whether an NVIDIA driver seems to be there, from its device files.
// SPDX-License-Identifier: MIT
#include "codec/base/cuda_device.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <system_error>

#include "codec/base/folder_names.hpp"

namespace zerorun {

static bool is_driver_file(std::string_view name) {
  constexpr std::string_view kNumbered = "nvidia";
  if (name.starts_with(kNumbered))
    return name.size() > kNumbered.size() &&
           std::isdigit(static_cast<unsigned char>(name[kNumbered.size()])) != 0;
  return name == "dxg" || name == "nvgpu" || name.starts_with("nvhost-");
}

bool has_driver_files(const std::string& folder, const char* visible) {
  // CUDA stops at the first entry that names no device.
  if (visible != nullptr && (*visible == '\0' || *visible == '-')) return false;
  std::error_code error;
  return std::ranges::any_of(folder_names(folder, error), is_driver_file);
}

}  // namespace zerorun
