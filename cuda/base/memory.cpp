// Failures of CUDA and of allocations, and pinned memory.
// SPDX-License-Identifier: MIT
#include "cuda/base/memory.hpp"

#include <new>
#include <string>

#include "codec/base/cuda_device.hpp"
#include "codec/base/try.hpp"

namespace zerorun {
Status cuda_failure(cudaError_t error, const char* call) try {
  (void)cudaGetLastError();
  const Errc code = error == cudaErrorMemoryAllocation ? Errc::out_of_memory : Errc::device_failure;
  // "cudaMalloc(&memory, bytes)" -> "cudaMalloc"
  std::string text(call);
  text = text.substr(0, text.find('('));
  return Status(code, text + ": " + cudaGetErrorString(error));
} catch (const std::bad_alloc&) {
  return Status(Errc::device_failure);
}

Status allocation_failure(cudaError_t error, std::size_t bytes, bool pinned) try {
  (void)cudaGetLastError();
  const std::string what =
      std::to_string(bytes) + " bytes of " + (pinned ? "pinned host" : "device") + " memory";
  if (error == cudaErrorMemoryAllocation) return Status(Errc::out_of_memory, what);
  return Status(Errc::device_failure, what + ": " + cudaGetErrorString(error));
} catch (const std::bad_alloc&) {
  return Status(Errc::out_of_memory);
}

static cudaPointerAttributes attributes_of(const void* memory) {
  cudaPointerAttributes attributes{};
  if (cudaPointerGetAttributes(&attributes, memory) == cudaSuccess) return attributes;
  (void)cudaGetLastError();  // CUDA does not know the pointer, which is no failure
  return {};
}

bool is_pinned(const void* memory) { return attributes_of(memory).type == cudaMemoryTypeHost; }

const std::uint8_t* address_of_pinned(const std::uint8_t* memory, std::size_t bytes) {
  const cudaPointerAttributes first = attributes_of(memory);
  const cudaPointerAttributes last = attributes_of(memory + bytes - 1);
  if (first.type != cudaMemoryTypeHost || last.type != cudaMemoryTypeHost) return nullptr;
  const auto* const begin = static_cast<const std::uint8_t*>(first.devicePointer);
  const auto* const end = static_cast<const std::uint8_t*>(last.devicePointer);
  return begin != nullptr && end == begin + bytes - 1 ? begin : nullptr;
}

/// In the context of the device.
static Result<std::byte*> allocate_on(int device, std::size_t bytes) {
  const DeviceGuard guard(device);
  ZR_TRY(guard.status());
  void* memory = nullptr;
  if (const cudaError_t error = PinnedMemory::allocate(&memory, bytes); error != cudaSuccess)
    return allocation_failure(error, bytes, true);
  return static_cast<std::byte*>(memory);
}

Result<std::byte*> cuda_allocate_pinned(std::size_t bytes) {
  int count = 0;
  if (const cudaError_t error = cudaGetDeviceCount(&count); error != cudaSuccess || count == 0) {
    (void)cudaGetLastError();
    return Status(Errc::no_device, cuda_backend_absence());
  }
  int first = NearDevice::device();
  if (first < 0 && cudaGetDevice(&first) != cudaSuccess) first = 0;
  auto made = allocate_on(first, bytes);
  // A device that broke cannot allocate, and memory of any device is good for all.
  for (int device = 0; device < count && !made; ++device)
    if (device != first && made.status().code() != Errc::out_of_memory)
      made = allocate_on(device, bytes);
  return made;
}

void cuda_release_pinned(std::byte* memory) noexcept { PinnedMemory::release(memory); }

}  // namespace zerorun
