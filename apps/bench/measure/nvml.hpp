// The driver's management library (NVML), loaded when it is asked.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include "zerorun/status.hpp"

namespace zerorun::app::bench {

/// The calls of NVML that are used. Its header is not part of every toolkit; these calls have not
/// changed since they exist. Devices are named by their PCI bus ("0000:19:00.0"). One thread.
class Nvml {
 public:
  /// `library`: its file; a test has one of its own.
  explicit Nvml(const char* library = "libnvidia-ml.so.1");
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  /// Ok, or why nothing can be asked. Errors: no_device.
  const Status& status() const noexcept { return status_; }

  std::string driver_version() const;  ///< empty where NVML does not tell
  /// "1980 MHz, memory 2619 MHz" at this moment; empty where NVML does not tell.
  std::string clocks(const std::string& bus) const;
  /// Millijoules that the device took since its driver was loaded. Errors: no_device,
  /// device_unsuitable (it has no counter: it is older than Volta, or a part of a GPU).
  Result<std::uint64_t> millijoules(const std::string& bus) const;

 private:
  template <typename Function>
  Function* find(const char* name) const;
  /// Null where there is no such device.
  void* handle(const std::string& bus) const;

  void* library_;
  Status status_;
};

}  // namespace zerorun::app::bench
