// How much shared memory a kernel may ask for, by device.
// SPDX-License-Identifier: MIT
#include "cuda/base/shared_permission.hpp"

#include "cuda/base/check.hpp"
#include "cuda/base/this_device.hpp"

namespace zerorun {

std::size_t& SharedPermission::allowed(int device) {
  const auto index = static_cast<std::size_t>(device);
  if (allowed_.size() <= index) allowed_.resize(index + 1);
  return allowed_[index];
}

Status SharedPermission::allow(std::size_t bytes) {
  const KnownDevice* device = nullptr;
  ZR_CUDA_TRY(current_device(device));
  if (device->limits.pretended) return Status::ok();  // pretend() allows what the device has
  ZR_CUDA_TRY(cudaFuncSetAttribute(kernel_, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   static_cast<int>(bytes)));
  return Status::ok();
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
