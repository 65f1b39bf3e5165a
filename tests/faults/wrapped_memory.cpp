// Device and pinned memory of the wrapped CUDA runtime: counted, and full of what a test wants.
// SPDX-License-Identifier: MIT
#include "tests/faults/wrapped_cudart.hpp"

#include <cstring>
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
std::atomic<long> g_filled{0}, g_device_bytes{0}, g_pinned_bytes{0};
thread_local int g_fill = -1;

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

void fill_new_memory(int value) noexcept { g_fill = value; }
long filled() noexcept { return g_filled; }
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
cudaError_t __real_cudaHostRegister(void*, std::size_t, unsigned);
cudaError_t __real_cudaHostUnregister(void*);
cudaError_t __real_cudaStreamCreateWithFlags(cudaStream_t*, unsigned);
cudaError_t __real_cudaMemsetAsync(void*, int, std::size_t, cudaStream_t);
cudaError_t __real_cudaStreamSynchronize(cudaStream_t);
cudaError_t __real_cudaStreamDestroy(cudaStream_t);

/// On a stream of its own, which waits for no other and is part of no capture.
static cudaError_t fill_device(void* memory, std::size_t bytes) {
  cudaStream_t stream = nullptr;
  cudaError_t error = __real_cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  if (error != cudaSuccess) return error;
  error = __real_cudaMemsetAsync(memory, g_fill, bytes, stream);
  const cudaError_t waited = __real_cudaStreamSynchronize(stream);
  (void)__real_cudaStreamDestroy(stream);
  return first_of(error, waited);
}

cudaError_t __wrap_cudaMalloc(void** out, std::size_t bytes) {
  if (const cudaError_t injected = fate(Kind::query); injected != cudaSuccess) return injected;
  const cudaError_t error = __real_cudaMalloc(out, bytes);
  if (error != cudaSuccess) return error;
  remember(*out, bytes, false);
  if (g_fill < 0) return cudaSuccess;
  ++g_filled;
  return fill_device(*out, bytes);
}

cudaError_t __wrap_cudaHostAlloc(void** out, std::size_t bytes, unsigned flags) {
  if (const cudaError_t injected = fate(Kind::query); injected != cudaSuccess) return injected;
  const cudaError_t error = __real_cudaHostAlloc(out, bytes, flags);
  if (error != cudaSuccess) return error;
  remember(*out, bytes, true);
  if (g_fill < 0) return cudaSuccess;
  ++g_filled;
  std::memset(*out, g_fill, bytes);
  return cudaSuccess;
}

cudaError_t __wrap_cudaHostRegister(void* memory, std::size_t bytes, unsigned flags) {
  if (const cudaError_t injected = fate(Kind::query); injected != cudaSuccess) return injected;
  // The library registers nothing but pages that it has just mapped.
  if (g_fill >= 0) std::memset(memory, g_fill, bytes);
  if (g_fill >= 0) ++g_filled;
  const cudaError_t error = __real_cudaHostRegister(memory, bytes, flags);
  if (error == cudaSuccess) remember(memory, bytes, true);
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
cudaError_t __wrap_cudaHostUnregister(void* memory) {
  const cudaError_t injected = fate(Kind::query);
  forget(memory);
  return first_of(injected, __real_cudaHostUnregister(memory));
}

}  // extern "C"
