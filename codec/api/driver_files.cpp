// Whether an NVIDIA driver seems to be there, from its device files.
// SPDX-License-Identifier: MIT
#include "codec/api/driver_files.hpp"

#include <cctype>
#include <filesystem>
#include <string_view>
#include <system_error>

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
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error))
    if (is_driver_file(at->path().filename().string())) return true;
  return false;
}

}  // namespace zerorun
