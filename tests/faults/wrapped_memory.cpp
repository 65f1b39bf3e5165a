// Device and pinned memory of the wrapped CUDA runtime: counted.
// SPDX-License-Identifier: MIT
#include "tests/faults/wrapped_cudart.hpp"

#include <atomic>
#include <map>
#include <mutex>

#include "tests/faults/call_plan.hpp"

namespace zerorun::test::wrapped {
namespace {

using call_plan::g_live;

struct Allocation {
  std::size_t bytes;
  bool pinned;
};
std::mutex g_mutex;
std::map<void*, Allocation>& g_memory = *new std::map<void*, Allocation>;
std::atomic<long> g_device_bytes{0}, g_pinned_bytes{0};

void remember(void* memory, std::size_t bytes, bool pinned) {
  ++g_live;
  (pinned ? g_pinned_bytes : g_device_bytes) += static_cast<long>(bytes);
  const std::lock_guard lock(g_mutex);
  g_memory[memory] = {bytes, pinned};
}

void forget(void* memory) {
  const std::lock_guard lock(g_mutex);
  const auto found = g_memory.find(memory);
  if (found == g_memory.end()) return;
  --g_live;
  (found->second.pinned ? g_pinned_bytes : g_device_bytes) -=
      static_cast<long>(found->second.bytes);
  g_memory.erase(found);
}

}  // namespace

long live_device_bytes() noexcept { return g_device_bytes; }
long live_pinned_bytes() noexcept { return g_pinned_bytes; }

}  // namespace zerorun::test::wrapped

using namespace zerorun::test::call_plan;
using namespace zerorun::test::wrapped;

extern "C" {

cudaError_t __real_cudaMalloc(void**, std::size_t);
cudaError_t __real_cudaHostAlloc(void**, std::size_t, unsigned);
cudaError_t __real_cudaFree(void*);
cudaError_t __real_cudaFreeHost(void*);

cudaError_t __wrap_cudaMalloc(void** out, std::size_t bytes) {
  if (const cudaError_t injected = fate(Kind::query); injected != cudaSuccess) return injected;
  const cudaError_t error = __real_cudaMalloc(out, bytes);
  if (error == cudaSuccess) remember(*out, bytes, false);
  return error;
}

cudaError_t __wrap_cudaHostAlloc(void** out, std::size_t bytes, unsigned flags) {
  if (const cudaError_t injected = fate(Kind::query); injected != cudaSuccess) return injected;
  const cudaError_t error = __real_cudaHostAlloc(out, bytes, flags);
  if (error == cudaSuccess) remember(*out, bytes, true);
  return error;
}

cudaError_t __wrap_cudaFree(void* memory) {
  const cudaError_t injected = fate(Kind::query);
  forget(memory);
  return first_of(injected, __real_cudaFree(memory));
}
cudaError_t __wrap_cudaFreeHost(void* memory) {
  const cudaError_t injected = fate(Kind::query);
  forget(memory);
  return first_of(injected, __real_cudaFreeHost(memory));
}

}  // extern "C"
