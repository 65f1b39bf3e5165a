// The word by which people name a device.
// SPDX-License-Identifier: MIT
#pragma once

#include <charconv>
#include <optional>
#include <string_view>

#include "zerorun/backend.hpp"

namespace zerorun {

struct DeviceName {
  Backend backend = Backend::automatic;
  int index = 0;  ///< CUDA device index
};

/// Parses auto, cpu, cuda or cuda:N, N being 0 to 1023; nullopt on anything else.
inline std::optional<DeviceName> parse_device_name(std::string_view text) {
  if (text == "auto") return DeviceName{};
  if (text == "cpu") return DeviceName{Backend::cpu, 0};
  if (text == "cuda") return DeviceName{Backend::cuda, 0};
  constexpr std::string_view kPrefix = "cuda:";
  if (!text.starts_with(kPrefix)) return std::nullopt;
  int index = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + kPrefix.size(), end, index);
  if (error != std::errc() || stop != end || index < 0 || index > 1023) return std::nullopt;
  return DeviceName{Backend::cuda, index};
}

}  // namespace zerorun
