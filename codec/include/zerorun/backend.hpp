// Which processor codes a frame, and which are there.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "zerorun/export.hpp"
#include "zerorun/status.hpp"

namespace zerorun {

/// Both backends write the same bytes and decode the same samples.
enum class Backend {
  automatic,  ///< CUDA if a usable device answers, else the CPU
  cpu,
  cuda,  ///< an error where there is no usable device, never a quiet CPU run
};

ZERORUN_API std::string_view name(Backend backend) noexcept;

/// A CUDA device as this build sees it.
struct DeviceInfo {
  int index = 0;  ///< the N of `cuda:N`
  std::string name;
  int compute_major = 0;
  int compute_minor = 0;
  std::size_t memory_bytes = 0;
  int multiprocessors = 0;
  Status usable;  ///< ok, or why this build cannot use it
};

/// Lists the CUDA devices; empty without a driver, a device or a CUDA build. Thread-safe.
ZERORUN_API std::vector<DeviceInfo> cuda_devices();

/// Turns `automatic` into a backend and checks an explicit choice. `device` is a CUDA index.
/// Errors: cuda_not_built, no_device, device_unsuitable. Thread-safe.
ZERORUN_API Result<Backend> resolve_backend(Backend wanted, int device = 0);

}  // namespace zerorun
