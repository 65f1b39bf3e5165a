// The words of the elements' `device` property: auto, cpu, cuda, cuda:N.
// SPDX-License-Identifier: MIT
#pragma once

#include <charconv>
#include <string>
#include <string_view>

#include "zerorun/backend.hpp"

namespace zerorun::gst {

struct DeviceName {
  Backend backend = Backend::automatic;
  int index = 0;
};

/// Errors: invalid_argument.
inline Result<DeviceName> parse_device(std::string_view text) {
  if (text == "auto") return DeviceName{};
  if (text == "cpu") return DeviceName{Backend::cpu, 0};
  if (text == "cuda") return DeviceName{Backend::cuda, 0};
  DeviceName device{Backend::cuda, 0};
  constexpr std::string_view kPrefix = "cuda:";
  if (text.substr(0, kPrefix.size()) == kPrefix) {
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + kPrefix.size(), end, device.index);
    if (error == std::errc() && stop == end && device.index >= 0) return device;
  }
  return Status(Errc::invalid_argument,
                "the device '" + std::string(text) + "' is not auto, cpu, cuda or cuda:N");
}

}  // namespace zerorun::gst
