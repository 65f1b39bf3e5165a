// Failures of CUDA and of allocations, and pinned memory on the NUMA node of the GPU that uses it.
// SPDX-License-Identifier: MIT
#include "cuda/base/memory.hpp"

#include <map>
#include <mutex>
#include <new>
#include <string>

#include "codec/base/cuda_device.hpp"
#include "codec/base/numa_memory.hpp"
#include "codec/base/try.hpp"

namespace zerorun {
namespace {

// Memory that is mapped here comes in huge pages, and threads get theirs side by side: a frame of
// 12.4 MB takes 8.3 ms by cudaHostAlloc(), 5.4 here, 1.9 with 8 threads (H200).

/// Below this it makes no difference, and pages of its own would be a waste.
constexpr std::size_t kLeastBytes = std::size_t{64} << 10;

/// Memory that was mapped here and not allocated by CUDA.
struct Mapped {
  std::mutex mutex;
  std::map<void*, std::size_t> sizes;
};

Mapped& mapped() {
  static auto* const all = new Mapped;  // never destroyed: static objects may release memory late
  return *all;
}

/// Where pinned memory for the current device is mapped.
struct Place {
  bool may_map;  ///< false: CUDA has to allocate it
  int node;      ///< -1: it does not matter or is not known
};

Place place_for_current_device() {
  static const bool has_several = memory_nodes().size() > 1;
  int device = 0, node = -1, same_address = 0;
  const bool known =
      cudaGetDevice(&device) == cudaSuccess &&
      cudaDeviceGetAttribute(&same_address, cudaDevAttrCanUseHostPointerForRegisteredMem, device) ==
          cudaSuccess &&
      (!has_several || cudaDeviceGetAttribute(&node, cudaDevAttrHostNumaId, device) == cudaSuccess);
  if (!known) (void)cudaGetLastError();
  return {known && same_address != 0, has_several ? node : -1};
}

/// False: nothing was allocated.
bool map_and_register(void** memory, std::size_t bytes, int node) {
  const auto pages = map_on_node(bytes, node);
  if (!pages) return false;
  if (cudaHostRegister(*pages, bytes, cudaHostRegisterPortable) != cudaSuccess) {
    (void)cudaGetLastError();
    unmap_pages(*pages, bytes);
    return false;
  }
  Mapped& all = mapped();
  const std::lock_guard lock(all.mutex);
  all.sizes[*pages] = bytes;
  *memory = *pages;
  return true;
}

/// 0: CUDA allocated the memory.
std::size_t forget(void* memory) noexcept {
  Mapped& all = mapped();
  const std::lock_guard lock(all.mutex);
  const auto found = all.sizes.find(memory);
  if (found == all.sizes.end()) return 0;
  const std::size_t bytes = found->second;
  all.sizes.erase(found);
  return bytes;
}

}  // namespace

cudaError_t allocate_near(void** memory, std::size_t bytes) {
  if (bytes >= kLeastBytes) {
    const Place place = place_for_current_device();
    if (place.may_map && map_and_register(memory, bytes, place.node)) return cudaSuccess;
  }
  return cudaHostAlloc(memory, bytes, cudaHostAllocPortable);
}

void release_near(void* memory) noexcept {
  const std::size_t bytes = forget(memory);
  if (bytes == 0) {
    ignore_failure(cudaFreeHost(memory));
    return;
  }
  const cudaError_t error = cudaHostUnregister(memory);
  if (error == cudaSuccess) unmap_pages(static_cast<std::byte*>(memory), bytes);
  ignore_failure(error);
}

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
  if (const cudaError_t error = allocate_near(&memory, bytes); error != cudaSuccess)
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

void cuda_release_pinned(std::byte* memory) noexcept { release_near(memory); }

}  // namespace zerorun
