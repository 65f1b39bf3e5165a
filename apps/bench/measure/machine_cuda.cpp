// Facts about the devices, from the CUDA runtime and, if it is installed, the driver's management
// library (NVML).
// SPDX-License-Identifier: MIT
#include <cuda_runtime_api.h>

#include <fmt/core.h>

#include "apps/bench/measure/energy.hpp"
#include "apps/bench/measure/nvml.hpp"
#include "apps/bench/report/report.hpp"

namespace zerorun::app::bench {
namespace {

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

Result<std::string> cuda_bus(int device) {
  char bus[32] = {};
  if (cudaDeviceGetPCIBusId(bus, sizeof bus, device) == cudaSuccess) return std::string(bus);
  return Status(Errc::no_device, fmt::format("cuda:{} does not tell its place", device));
}

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
  for (const int device : cuda) {
    const auto bus = cuda_bus(device);
    if (!bus) continue;
    if (const std::string clocks = nvml.clocks(*bus); !clocks.empty())
      facts.emplace_back(fmt::format("cuda:{} clocks behind the last row", device), clocks);
  }
}

}  // namespace zerorun::app::bench
