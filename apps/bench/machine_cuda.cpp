// What the CUDA runtime says about the devices.
// SPDX-License-Identifier: MIT
#include <cuda_runtime_api.h>
#include <fmt/core.h>

#include "apps/bench/machine.hpp"

namespace zerorun::app::bench {
namespace {

std::string cuda_version(int number) {
  return fmt::format("{}.{}", number / 1000, number % 1000 / 10);
}

std::string clock_text(int device) {
  int core = 0, memory = 0;
  cudaDeviceGetAttribute(&core, cudaDevAttrClockRate, device);
  cudaDeviceGetAttribute(&memory, cudaDevAttrMemoryClockRate, device);
  return fmt::format("{} MHz, memory {} MHz (highest)", core / 1000, memory / 1000);
}

}  // namespace

void add_cuda_facts(const std::vector<int>& cuda, Facts& facts) {
  int driver = 0, runtime = 0;
  if (cudaDriverGetVersion(&driver) == cudaSuccess && driver > 0)
    facts.emplace_back("CUDA driver", cuda_version(driver));
  if (cudaRuntimeGetVersion(&runtime) == cudaSuccess)
    facts.emplace_back("CUDA runtime", cuda_version(runtime));
  for (const int device : cuda) {
    cudaDeviceProp properties{};
    if (cudaGetDeviceProperties(&properties, device) != cudaSuccess) continue;
    const std::string key = fmt::format("cuda:{}", device);
    facts.emplace_back(key, fmt::format("{}, {} multiprocessors", properties.name,
                                        properties.multiProcessorCount));
    facts.emplace_back(key + " clock", clock_text(device));
  }
}

}  // namespace zerorun::app::bench
