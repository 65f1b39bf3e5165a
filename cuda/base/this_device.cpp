// Asks CUDA for the limits of each device once, and how much shared memory a kernel may ask for.
// SPDX-License-Identifier: MIT
#include "cuda/base/this_device.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <iterator>
#include <mutex>
#include <optional>

#include "cuda/base/check.hpp"
#include "cuda/base/shared_permission.hpp"
#include "cuda/base/shared_permission.hpp"

namespace zerorun {
namespace {

/// The limits of the current device, `device`.
cudaError_t ask(int device, DeviceLimits& out) {
  cudaError_t error = cudaSuccess;
  const auto attribute = [&](cudaDeviceAttr which) {
    int value = 0;
    if (error == cudaSuccess) error = cudaDeviceGetAttribute(&value, which, device);
    return static_cast<std::uint32_t>(value);
  };
  const int major = static_cast<int>(attribute(cudaDevAttrComputeCapabilityMajor));
  out.capability = 10 * major + static_cast<int>(attribute(cudaDevAttrComputeCapabilityMinor));
  out.shared_of_cta = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  out.shared_of_processor = attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor);
  out.shared_taken = attribute(cudaDevAttrReservedSharedMemoryPerBlock);
  out.threads_of_processor = attribute(cudaDevAttrMaxThreadsPerMultiProcessor);
  out.ctas_of_processor = attribute(cudaDevAttrMaxBlocksPerMultiprocessor);
  out.registers_of_processor = attribute(cudaDevAttrMaxRegistersPerMultiprocessor);
  int code = 0;
  if (error == cudaSuccess) error = architecture_of_code(code);
  out.asynchronous_copies = code >= 80;
  out.programmatic_launches = code >= 90;
  out.processors = attribute(cudaDevAttrMultiProcessorCount);
  out.l2_bytes = attribute(cudaDevAttrL2CacheSize);
  std::size_t free_bytes = 0, all_bytes = 0;
  if (error == cudaSuccess) error = cudaMemGetInfo(&free_bytes, &all_bytes);
  out.memory_bytes = all_bytes;
  return error;
}

std::atomic<int> chosen_capability{0};

/// The limits that a test chose; those of `real` otherwise.
cudaError_t limit(const DeviceLimits& real, DeviceLimits& out) {
  out = real;
  const int capability = chosen_capability;
  if (capability == 0) return cudaSuccess;
  if (std::ranges::find(kCapabilities, capability) == std::end(kCapabilities))
    return cudaErrorInvalidValue;
  out = pretended_limits(real, capability);
  return cudaSuccess;
}

/// Indexed by device. A deque, so that pointers to its elements stay valid.
struct Devices {
  std::mutex mutex;
  std::deque<std::optional<KnownDevice>> known;
};

Devices& devices() {
  static Devices all;
  return all;
}

}  // namespace

void set_test_capability(int capability) { chosen_capability = capability; }
int test_capability() { return chosen_capability; }

cudaError_t current_device(const KnownDevice*& out) {
  int device = 0;
  if (cudaError_t error = cudaGetDevice(&device); error != cudaSuccess) return error;
  thread_local int last_device = -1;
  thread_local const KnownDevice* last = nullptr;
  if (device != last_device) {
    Devices& all = devices();
    const std::lock_guard lock(all.mutex);
    const auto index = static_cast<std::size_t>(device);
    while (all.known.size() <= index) all.known.emplace_back();
    if (!all.known[index]) {
      KnownDevice found{};
      if (cudaError_t error = ask(device, found.real); error != cudaSuccess) return error;
      if (cudaError_t error = limit(found.real, found.limits); error != cudaSuccess) return error;
      all.known[index] = found;
    }
    last = &*all.known[index];
    last_device = device;
  }
  out = last;
  return cudaSuccess;
}

Result<DeviceLimits> current_limits() {
  const KnownDevice* device = nullptr;
  ZR_CUDA_TRY(current_device(device));
  return device->limits;
}

cudaError_t pretend(const KnownDevice& device, const void* kernel, unsigned threads,
                    std::size_t& shared_bytes) {
  cudaFuncAttributes attributes{};
  if (cudaError_t error = cudaFuncGetAttributes(&attributes, kernel); error != cudaSuccess)
    return error;
  const CtaNeeds needs{threads, static_cast<std::uint32_t>(attributes.numRegs),
                       attributes.sharedSizeBytes};
  if (needs.shared_bytes + shared_bytes > device.limits.shared_of_cta) return cudaErrorInvalidValue;
  shared_bytes = padded_shared_bytes(device.real, device.limits, needs, shared_bytes);
  const int most = static_cast<int>(device.real.shared_of_cta - attributes.sharedSizeBytes);
  return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most);
}

std::size_t& SharedPermission::allowed(int device) {
  const auto index = static_cast<std::size_t>(device);
  if (allowed_.size() <= index) allowed_.resize(index + 1);
  return allowed_[index];
}

Status SharedPermission::allow(std::size_t bytes) {
  const KnownDevice* device = nullptr;
  ZR_CUDA_TRY(current_device(device));
  if (device->limits.pretended) return Status::ok();  // pretend() allows what the device has
  return ZR_CUDA_STATUS(cudaFuncSetAttribute(kernel_, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                             static_cast<int>(bytes)));
}

Status SharedPermission::prepare() {
  int device = 0;
  ZR_CUDA_TRY(cudaGetDevice(&device));
  ZR_CUDA_TRY(cudaFuncSetAttribute(kernel_, cudaFuncAttributePreferredSharedMemoryCarveout,
                                   cudaSharedmemCarveoutMaxShared));
  const std::lock_guard lock(mutex_);
  return allowed(device) != 0 ? allow(allowed(device)) : Status::ok();
}

Status SharedPermission::raise(std::size_t bytes) {
  int device = 0;
  ZR_CUDA_TRY(cudaGetDevice(&device));
  const std::lock_guard lock(mutex_);
  if (bytes <= allowed(device)) return Status::ok();
  ZR_TRY(allow(bytes));
  allowed(device) = bytes;
  return Status::ok();
}

}  // namespace zerorun
