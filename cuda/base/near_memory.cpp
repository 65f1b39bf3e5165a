// Pinned memory on the NUMA node of the GPU that uses it.
// SPDX-License-Identifier: MIT
#include "cuda/base/near_memory.hpp"

#include <map>
#include <mutex>

#include "codec/base/numa_memory.hpp"
#include "cuda/base/check.hpp"

namespace zerorun {
namespace {

// Memory that is mapped here comes in huge pages, and threads get theirs side by side. A frame of
// 12.4 MB on an H200: 8.3 ms by cudaHostAlloc(), also with 8 threads; mapped 5.4, with 8
// threads 1.9.

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

}  // namespace zerorun
