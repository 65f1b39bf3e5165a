// The driver's management library (NVML), loaded when it is asked.
// SPDX-License-Identifier: MIT
#include "apps/bench/measure/nvml.hpp"

#include <dlfcn.h>

#include <fmt/core.h>

namespace zerorun::app::bench {
namespace {

constexpr int kCoreClock = 1, kMemoryClock = 2;

}  // namespace

template <typename Function>
Function* Nvml::find(const char* name) const {
  return library_ == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(library_, name));
}

Nvml::Nvml(const char* library) : library_(dlopen(library, RTLD_NOW | RTLD_LOCAL)) {
  if (library_ == nullptr) {
    status_ = Status(Errc::no_device, "NVML cannot be loaded, because there is no NVIDIA driver");
    return;
  }
  const auto init = find<int()>("nvmlInit_v2");
  const int error = init == nullptr ? -1 : init();
  if (error == 0) return;
  status_ = Status(Errc::no_device, fmt::format("NVML does not start (its error {})", error));
}

Nvml::~Nvml() {
  if (library_ == nullptr) return;
  if (const auto shutdown = find<int()>("nvmlShutdown"); status_ && shutdown != nullptr) shutdown();
  dlclose(library_);
}

std::string Nvml::driver_version() const {
  char text[96] = {};
  const auto get = find<int(char*, unsigned)>("nvmlSystemGetDriverVersion");
  return status_ && get != nullptr && get(text, sizeof text) == 0 ? text : "";
}

void* Nvml::handle(const std::string& bus) const {
  void* found = nullptr;
  const auto by_bus = find<int(const char*, void**)>("nvmlDeviceGetHandleByPciBusId_v2");
  return status_ && by_bus != nullptr && by_bus(bus.c_str(), &found) == 0 ? found : nullptr;
}

std::string Nvml::clocks(const std::string& bus) const {
  unsigned core = 0, memory = 0;
  void* const device = handle(bus);
  const auto clock = find<int(void*, int, unsigned*)>("nvmlDeviceGetClockInfo");
  if (device == nullptr || clock == nullptr || clock(device, kCoreClock, &core) != 0 ||
      clock(device, kMemoryClock, &memory) != 0)
    return {};
  return fmt::format("{} MHz, memory {} MHz", core, memory);
}

Result<std::uint64_t> Nvml::millijoules(const std::string& bus) const {
  if (!status_) return status_;
  void* const device = handle(bus);
  if (device == nullptr)
    return Status(Errc::no_device, fmt::format("NVML knows no device at {}", bus));
  const auto energy = find<int(void*, unsigned long long*)>("nvmlDeviceGetTotalEnergyConsumption");
  unsigned long long value = 0;
  const int error = energy == nullptr ? -1 : energy(device, &value);
  if (error == 0) return std::uint64_t{value};
  return Status(Errc::device_unsuitable,
                fmt::format("NVML has no energy counter of it (its error {})", error));
}

}  // namespace zerorun::app::bench
