// The words by which people name devices.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <vector>

#include "zerorun/backend.hpp"

namespace zerorun {

struct DeviceName {
  Backend backend = Backend::automatic;
  int index = 0;               ///< CUDA device index; of a list, the first one
  std::vector<int> list = {};  ///< of a list of several: all indices
  bool all_devices = false;    ///< cuda:all
};

/// "0,2": each index, 0 to 1023 without a sign, once. Empty: it is no such list.
inline std::vector<int> parse_device_list(std::string_view text) {
  std::vector<int> list;
  for (const char *at = text.data(), *const end = at + text.size();; ++at) {
    int index = 0;
    const auto [stop, error] = std::from_chars(at, end, index);
    if (error != std::errc() || index < 0 || index > 1023 || std::ranges::count(list, index) > 0)
      return {};
    list.push_back(index);
    if (stop == end) return list;
    if (*stop != ',') return {};
    at = stop;
  }
}

/// Parses auto, cpu, cuda, cuda:N, cuda:N,M,... (each once) or cuda:all, an index being 0 to 1023;
/// nullopt on anything else.
inline std::optional<DeviceName> parse_device_names(std::string_view text) {
  if (text == "auto") return DeviceName{};
  if (text == "cpu") return DeviceName{Backend::cpu, 0, {}, false};
  if (text == "cuda") return DeviceName{Backend::cuda, 0, {}, false};
  if (text == "cuda:all") return DeviceName{Backend::cuda, 0, {}, true};
  constexpr std::string_view kPrefix = "cuda:";
  if (!text.starts_with(kPrefix)) return std::nullopt;
  std::vector<int> list = parse_device_list(text.substr(kPrefix.size()));
  if (list.empty()) return std::nullopt;
  const int first = list[0];
  if (list.size() == 1) list.clear();
  return DeviceName{Backend::cuda, first, std::move(list), false};
}

/// Finds out what `cuda:all` means on this machine, which starts all devices: `list` and `index`
/// are then set. Errors: no_device, if there is none.
inline Status find_all_devices(DeviceName& name) {
  if (!name.all_devices) return Status::ok();
  std::vector<int> usable = usable_cuda_devices();
  name.all_devices = false;
  if (usable.empty()) {
    const Status status = resolve_backend(Backend::cuda).status();
    return status ? Status(Errc::no_device, "there is no usable CUDA device") : status;
  }
  name.index = usable[0];
  if (usable.size() > 1) name.list = std::move(usable);
  return Status::ok();
}

}  // namespace zerorun
