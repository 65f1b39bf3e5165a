// Stands in for the driver's management library: two devices, each look at an energy counter adds
// to it.
// SPDX-License-Identifier: MIT
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr int kNotFound = 6, kNotSupported = 3;
unsigned long long g_millijoules = 5'000'000;
int g_device = 0, g_old_device = 0;  // their addresses are the handles

}  // namespace

extern "C" {

__attribute__((visibility("default"))) int nvmlInit_v2() {
  return std::getenv("ZERORUN_STAND_IN_NVML_FAILS") == nullptr ? 0 : 9;
}
__attribute__((visibility("default"))) int nvmlShutdown() { return 0; }
__attribute__((visibility("default"))) int nvmlSystemGetDriverVersion(char* text, unsigned size) {
  std::snprintf(text, size, "1.2.3");
  return 0;
}
__attribute__((visibility("default"))) int nvmlDeviceGetHandleByPciBusId_v2(const char* bus,
                                                                            void** device) {
  *device = std::strcmp(bus, "0000:01:00.0") == 0   ? static_cast<void*>(&g_device)
            : std::strcmp(bus, "0000:02:00.0") == 0 ? static_cast<void*>(&g_old_device)
                                                    : nullptr;
  return *device != nullptr ? 0 : kNotFound;
}
__attribute__((visibility("default"))) int nvmlDeviceGetClockInfo(void*, int kind,
                                                                  unsigned* clock) {
  *clock = kind == 1 ? 1980 : 2619;
  return 0;
}
__attribute__((visibility("default"))) int nvmlDeviceGetTotalEnergyConsumption(
    void* device, unsigned long long* millijoules) {
  if (device == &g_old_device) return kNotSupported;
  *millijoules = g_millijoules += 1500;
  return 0;
}
}
