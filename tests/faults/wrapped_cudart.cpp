// Stands between a test program and the real CUDA runtime, by the linker's --wrap: lets a call fail
// as stand_in_cudart.cpp does, fills new memory (wrapped_memory.cpp), and counts what exists. On
// its own it passes all calls on.
// SPDX-License-Identifier: MIT
#include "tests/faults/wrapped_fate.hpp"

#include <mutex>

#include "tests/faults/stand_in_cudart.hpp"

namespace zerorun::test {
namespace {

std::mutex g_mutex;
std::atomic<bool> g_is_counting{false};  // otherwise a call costs one look at this
long g_calls = 0, g_wanted = 0;
cudaError_t g_error = cudaSuccess;
bool g_is_sticky = false, g_has_lost_work = false;
std::atomic<bool> g_is_dead{false};
thread_local cudaError_t g_last = cudaSuccess;

}  // namespace

namespace wrapped {

std::atomic<long> g_live{0};

cudaError_t fate(Kind kind) {
  if (!g_is_counting) return cudaSuccess;
  const std::lock_guard lock(g_mutex);
  const bool is_it = ++g_calls == g_wanted;
  if (is_it && g_is_sticky) g_is_dead = true;
  const cudaError_t error = g_is_dead || is_it ? g_error : cudaSuccess;
  if (error != cudaSuccess) g_last = error;
  if (g_is_dead && kind == Kind::work) g_has_lost_work = true;
  return error;
}

cudaError_t injected_error(bool forget) noexcept {
  if (g_is_dead) return g_error;
  const cudaError_t last = g_last;
  if (forget) g_last = cudaSuccess;
  return last;
}

}  // namespace wrapped

namespace stand_in {

void fail_at(long number, How how) {
  const std::lock_guard lock(g_mutex);
  g_is_counting = true;
  g_calls = 0;
  g_wanted = number;
  g_is_sticky = how == How::fault;
  g_is_dead = g_has_lost_work = false;
  g_error = how == How::memory  ? cudaErrorMemoryAllocation
            : how == How::fault ? cudaErrorIllegalAddress
                                : cudaErrorUnknown;
  g_last = cudaSuccess;
}

long calls() {
  const std::lock_guard lock(g_mutex);
  return g_calls;
}

bool has_lost_work() {
  const std::lock_guard lock(g_mutex);
  return g_has_lost_work;
}

bool is_over() {
  const std::lock_guard lock(g_mutex);
  return !g_is_sticky && g_wanted > 0 && g_calls >= g_wanted;
}

long live() noexcept { return wrapped::g_live; }
bool computes() noexcept { return true; }

}  // namespace stand_in

}  // namespace zerorun::test

using namespace zerorun::test::wrapped;

extern "C" {

// The linker knows the runtime's functions by these names.
#define ZR_FORWARD(name, parameters, arguments, kind)                    \
  cudaError_t __real_##name parameters;                                  \
  cudaError_t __wrap_##name parameters {                                 \
    const cudaError_t injected = fate(kind);                             \
    return injected != cudaSuccess ? injected : __real_##name arguments; \
  }
#define ZR_QUERY(name, parameters, arguments) ZR_FORWARD(name, parameters, arguments, Kind::query)
#define ZR_WORK(name, parameters, arguments) ZR_FORWARD(name, parameters, arguments, Kind::work)
#define ZR_WAIT(name, parameters, arguments)            \
  cudaError_t __real_##name parameters;                 \
  cudaError_t __wrap_##name parameters {                \
    const cudaError_t injected = fate(Kind::work);      \
    return first_of(injected, __real_##name arguments); \
  }
#define ZR_MAKE(name, parameters, arguments)           \
  cudaError_t __real_##name parameters;                \
  cudaError_t __wrap_##name parameters {               \
    const cudaError_t injected = fate(Kind::query);    \
    if (injected != cudaSuccess) return injected;      \
    const cudaError_t error = __real_##name arguments; \
    if (error == cudaSuccess) ++g_live;                \
    return error;                                      \
  }
#define ZR_RELEASE(name, parameters, arguments)         \
  cudaError_t __real_##name parameters;                 \
  cudaError_t __wrap_##name parameters {                \
    const cudaError_t injected = fate(Kind::query);     \
    --g_live;                                           \
    return first_of(injected, __real_##name arguments); \
  }
#define ZR_OWN(name)
#include "tests/faults/cuda_calls.def"

cudaError_t __real_cudaStreamEndCapture(cudaStream_t, cudaGraph_t*);
cudaError_t __real_cudaGetLastError();
cudaError_t __real_cudaPeekAtLastError();

/// The stream must not stay in the capture.
cudaError_t __wrap_cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  const cudaError_t injected = fate(Kind::query);
  const cudaError_t error = __real_cudaStreamEndCapture(stream, graph);
  if (injected != cudaSuccess && error == cudaSuccess) {
    (void)__real_cudaGraphDestroy(*graph);
    *graph = nullptr;
  }
  if (injected == cudaSuccess && error == cudaSuccess) ++g_live;
  return first_of(injected, error);
}

cudaError_t __wrap_cudaGetLastError() {
  const cudaError_t real = __real_cudaGetLastError();
  return first_of(injected_error(true), real);
}
cudaError_t __wrap_cudaPeekAtLastError() {
  return first_of(injected_error(false), __real_cudaPeekAtLastError());
}

}  // extern "C"
