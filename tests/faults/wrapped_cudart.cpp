// Stands between a test program and the real CUDA runtime, by the linker's --wrap: lets a call fail
// as stand_in_cudart.cpp does, fills new memory (wrapped_memory.cpp), and counts what exists. On
// its own it passes all calls on.
// SPDX-License-Identifier: MIT
#include <utility>

#include "tests/faults/call_plan.hpp"
#include "tests/faults/stand_in_cudart.hpp"

bool zerorun::test::stand_in::computes() noexcept { return true; }

using namespace zerorun::test::call_plan;

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

cudaError_t __real_cudaStreamBeginCaptureToGraph(cudaStream_t, cudaGraph_t, const cudaGraphNode_t*,
                                                 const cudaGraphEdgeData*, std::size_t,
                                                 cudaStreamCaptureMode);
cudaError_t __real_cudaStreamEndCapture(cudaStream_t, cudaGraph_t*);
cudaError_t __real_cudaGetLastError();
cudaError_t __real_cudaPeekAtLastError();

/// The capture of this thread goes into a graph of the caller's.
static thread_local bool g_adds_to_graph = false;

cudaError_t __wrap_cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                                 const cudaGraphNode_t* behind,
                                                 const cudaGraphEdgeData* edges, std::size_t count,
                                                 cudaStreamCaptureMode mode) {
  if (const cudaError_t injected = fate(Kind::query); injected != cudaSuccess) return injected;
  const cudaError_t error =
      __real_cudaStreamBeginCaptureToGraph(stream, graph, behind, edges, count, mode);
  g_adds_to_graph = error == cudaSuccess;
  return error;
}

/// The stream must not stay in the capture.
cudaError_t __wrap_cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  const cudaError_t injected = fate(Kind::query);
  const cudaError_t error = __real_cudaStreamEndCapture(stream, graph);
  if (std::exchange(g_adds_to_graph, false)) return first_of(injected, error);
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
