// Facts about the devices, from the CUDA runtime and, if it is installed, the driver's management
// library (NVML).
// SPDX-License-Identifier: MIT
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <fmt/core.h>

#include "apps/bench/report/report.hpp"

namespace zerorun::app::bench {
namespace {

/// The calls of NVML that are used. Its header is not part of every toolkit; these calls have not
/// changed since the first version of the library.
class Nvml {
 public:
  Nvml() : library_(dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL)) {
    if (library_ == nullptr) return;
    const auto init = find<int()>("nvmlInit_v2");
    ready_ = init != nullptr && init() == 0;
  }
  ~Nvml() {
    if (ready_)
      if (const auto shutdown = find<int()>("nvmlShutdown")) shutdown();
    if (library_ != nullptr) dlclose(library_);
  }
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  std::string driver_version() const {
    char text[96] = {};
    const auto get = find<int(char*, unsigned)>("nvmlSystemGetDriverVersion");
    return ready_ && get != nullptr && get(text, sizeof text) == 0 ? text : "";
  }

  /// At this moment; empty where NVML does not tell.
  std::string clocks(int device) const {
    char bus[32] = {};
    void* handle = nullptr;
    unsigned core = 0, memory = 0;
    const auto by_bus = find<int(const char*, void**)>("nvmlDeviceGetHandleByPciBusId_v2");
    const auto clock = find<int(void*, int, unsigned*)>("nvmlDeviceGetClockInfo");
    if (!ready_ || by_bus == nullptr || clock == nullptr ||
        cudaDeviceGetPCIBusId(bus, sizeof bus, device) != cudaSuccess ||
        by_bus(bus, &handle) != 0 || clock(handle, kCoreClock, &core) != 0 ||
        clock(handle, kMemoryClock, &memory) != 0)
      return {};
    return fmt::format("{} MHz, memory {} MHz", core, memory);
  }

 private:
  static constexpr int kCoreClock = 1, kMemoryClock = 2;

  template <typename Function>
  Function* find(const char* name) const {
    return library_ == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(library_, name));
  }

  void* library_;
  bool ready_ = false;
};

std::string cuda_version(int number) {
  return fmt::format("{}.{}", number / 1000, number % 1000 / 10);
}

std::string highest_clocks(int device) {
  int core = 0, memory = 0;
  cudaDeviceGetAttribute(&core, cudaDevAttrClockRate, device);
  cudaDeviceGetAttribute(&memory, cudaDevAttrMemoryClockRate, device);
  return fmt::format("{} MHz, memory {} MHz", core / 1000, memory / 1000);
}

}  // namespace

void add_cuda_facts(const std::vector<int>& cuda, Facts& facts) {
  int driver = 0, runtime = 0;
  if (const std::string version = Nvml().driver_version(); !version.empty())
    facts.emplace_back("driver", version);
  if (cudaDriverGetVersion(&driver) == cudaSuccess && driver > 0)
    facts.emplace_back("CUDA of the driver", cuda_version(driver));
  if (cudaRuntimeGetVersion(&runtime) == cudaSuccess)
    facts.emplace_back("CUDA runtime", cuda_version(runtime));
  for (const int device : cuda) {
    cudaDeviceProp properties{};
    if (cudaGetDeviceProperties(&properties, device) != cudaSuccess) continue;
    const std::string key = fmt::format("cuda:{}", device);
    facts.emplace_back(key,
                       fmt::format("{}, {} multiprocessors, L2 {} MiB", properties.name,
                                   properties.multiProcessorCount, properties.l2CacheSize >> 20));
    facts.emplace_back(key + " highest clocks", highest_clocks(device));
  }
}

void add_clocks(const std::vector<int>& cuda, Facts& facts) {
  const Nvml nvml;
  for (const int device : cuda)
    if (const std::string clocks = nvml.clocks(device); !clocks.empty())
      facts.emplace_back(fmt::format("cuda:{} clocks behind the last row", device), clocks);
}

}  // namespace zerorun::app::bench
