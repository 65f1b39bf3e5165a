// Pinned memory on the NUMA node of the GPU that uses it.
// SPDX-License-Identifier: MIT
#include "cuda/base/near_memory.hpp"

#include <map>
#include <mutex>

#include "codec/base/numa_memory.hpp"

namespace zerorun {
namespace {

/// Below this the node makes no difference, and pages of its own would be a waste.
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

/// The node of the current device; -1: it does not matter or is not known.
int node_of_current_device() {
  static const bool has_several = memory_nodes().size() > 1;
  if (!has_several) return -1;
  int device = 0, node = -1, same_address = 0;
  const bool known =
      cudaGetDevice(&device) == cudaSuccess &&
      cudaDeviceGetAttribute(&node, cudaDevAttrHostNumaId, device) == cudaSuccess &&
      cudaDeviceGetAttribute(&same_address, cudaDevAttrCanUseHostPointerForRegisteredMem, device) ==
          cudaSuccess;
  if (!known) (void)cudaGetLastError();
  return known && same_address != 0 ? node : -1;
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
  const int node = bytes < kLeastBytes ? -1 : node_of_current_device();
  if (node >= 0 && map_and_register(memory, bytes, node)) return cudaSuccess;
  return cudaHostAlloc(memory, bytes, cudaHostAllocPortable);
}

void release_near(void* memory) noexcept {
  const std::size_t bytes = forget(memory);
  if (bytes == 0) {
    (void)cudaFreeHost(memory);
  } else if (cudaHostUnregister(memory) == cudaSuccess) {
    unmap_pages(static_cast<std::byte*>(memory), bytes);
  }
}

}  // namespace zerorun
