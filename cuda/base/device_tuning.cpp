// The sizes that were measured for a device of this machine.
// SPDX-License-Identifier: MIT
#include "cuda/base/device_tuning.hpp"

#include <cuda_runtime_api.h>

#include <map>
#include <mutex>
#include <string>

#include "codec/base/cuda_device.hpp"
#include "cuda/base/memory.hpp"

namespace zerorun {
namespace {

/// Asking CUDA for all properties takes a millisecond, so it is done once. Empty: not known.
std::string kind_of(int device) {
  static std::mutex mutex;
  static auto* const kinds = new std::map<int, std::string>;
  const std::lock_guard lock(mutex);
  if (const auto found = kinds->find(device); found != kinds->end()) return found->second;
  cudaDeviceProp properties{};
  if (cudaGetDeviceProperties(&properties, device) != cudaSuccess) {
    (void)cudaGetLastError();
    return "";
  }
  return (*kinds)[device] = device_kind(properties.name, properties.major, properties.minor);
}

}  // namespace

TuningPolicy current_tuning() {
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess) {
    (void)cudaGetLastError();
    return {};
  }
  const std::string kind = kind_of(device);
  return kind.empty() ? TuningPolicy{} : current_policy(kind);
}

TuningPolicy cuda_backend_tuning(int device) {
  const DeviceGuard guard(device);
  return guard.status() ? current_tuning() : TuningPolicy{};
}

}  // namespace zerorun
