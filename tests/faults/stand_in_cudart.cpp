// A CUDA runtime without a GPU: memory is the host's, copies copy, kernels do nothing. A program
// that is linked with it takes the host side of the CUDA backend, in which every call can fail
// once.
//
// ZERORUN_FAULT_AT       the number of the call that fails, from 1; 0 or absent: none
// ZERORUN_FAULT_HOW      `memory`: out of memory; `call`: an error of this call; `fault`: that of a
//                        kernel, after which every call fails
// ZERORUN_FAULT_LOG      a file that gets a line for each call: its name
// SPDX-License-Identifier: MIT
#include "tests/faults/stand_in_cudart.hpp"

#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "tests/faults/call_plan.hpp"

namespace zerorun::test::stand_in {
namespace {

using namespace call_plan;

std::mutex g_mutex;
std::map<const void*, std::pair<std::size_t, cudaMemoryType>>& g_memory =
    *new std::map<const void*, std::pair<std::size_t, cudaMemoryType>>;
std::FILE* g_log = nullptr;
thread_local int g_device = 0;
thread_local bool g_is_capturing = false;
thread_local cudaGraph_t g_graph_of_caller = nullptr;  // that is captured into

/// From the environment, for a program.
const bool g_is_planned = [] {
  const auto value = [](const char* name) {
    const char* text = std::getenv(name);
    return std::string(text == nullptr ? "" : text);
  };
  if (const std::string path = value("ZERORUN_FAULT_LOG"); !path.empty())
    g_log = std::fopen(path.c_str(), "w");
  const std::string how = value("ZERORUN_FAULT_HOW");
  fail_at(std::atol(value("ZERORUN_FAULT_AT").c_str()), how == "memory"  ? How::memory
                                                        : how == "fault" ? How::fault
                                                                         : How::call);
  return true;
}();

/// Calls on which samples and streams depend.
bool is_work(const std::string& name) {
  for (const char* part : {"Memcpy", "Memset", "Launch", "Synchronize", "EventRecord", "WaitEvent"})
    if (name.find(part) != std::string::npos) return true;
  return false;
}

/// What a call with this name comes to.
cudaError_t fate(const char* name) {
  const std::lock_guard lock(g_mutex);  // the lines of the log are in the order of the calls
  if (g_log != nullptr) {
    std::fprintf(g_log, "%s\n", name);
    std::fflush(g_log);
  }
  return call_plan::fate(is_work(name) ? Kind::work : Kind::query);
}

cudaError_t allocated(void** out, std::size_t bytes, cudaMemoryType type) {
  *out = std::calloc(1, bytes == 0 ? 1 : bytes);
  if (*out == nullptr) return cudaErrorMemoryAllocation;
  const std::lock_guard lock(g_mutex);
  g_memory[*out] = {bytes, type};
  ++g_live;
  return cudaSuccess;
}

/// Freeing works on a dead device, too: the process gets its memory back.
cudaError_t released(void* memory, cudaError_t error) {
  const std::lock_guard lock(g_mutex);
  if (memory != nullptr && g_memory.erase(memory) == 1) {
    --g_live;
    std::free(memory);
  }
  return error;
}

template <typename Handle>
cudaError_t created(Handle* out) {
  *out = reinterpret_cast<Handle>(new char);
  ++g_live;
  return cudaSuccess;
}

template <typename Handle>
cudaError_t destroyed(Handle handle, cudaError_t error) {
  delete reinterpret_cast<char*>(handle);
  --g_live;
  return error;
}

int attribute(cudaDeviceAttr wanted) {
  switch (wanted) {
    case cudaDevAttrComputeCapabilityMajor:
      return 9;
    case cudaDevAttrMultiProcessorCount:
      return 132;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      return 232448;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      return 233472;
    case cudaDevAttrReservedSharedMemoryPerBlock:
      return 1024;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      return 2048;
    case cudaDevAttrMaxBlocksPerMultiprocessor:
      return 32;
    case cudaDevAttrMaxRegistersPerMultiprocessor:
      return 65536;
    case cudaDevAttrL2CacheSize:
      return 50 << 20;
    default:
      return 0;
  }
}

}  // namespace

bool computes() noexcept { return false; }

}  // namespace zerorun::test::stand_in

namespace zerorun {

/// Instead of the library's own: this machine has a driver as far as the backend can see.
bool has_driver_files(const std::string&, const char*) { return true; }

}  // namespace zerorun

using namespace zerorun::test::call_plan;
using namespace zerorun::test::stand_in;

#define ZR_OR_FAIL(name) \
  if (const cudaError_t zr_error = fate(name); zr_error != cudaSuccess) return zr_error

extern "C" {

cudaError_t cudaGetLastError() { return injected_error(true); }
cudaError_t cudaPeekAtLastError() { return injected_error(false); }
const char* cudaGetErrorString(cudaError_t error) {
  return error == cudaErrorMemoryAllocation ? "out of memory"
         : error == cudaErrorIllegalAddress ? "an illegal memory access was encountered"
                                            : "unknown error";
}

cudaError_t cudaGetDeviceCount(int* count) {
  ZR_OR_FAIL("cudaGetDeviceCount");
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  ZR_OR_FAIL("cudaGetDevice");
  *device = g_device;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  ZR_OR_FAIL("cudaGetDeviceFlags");
  *flags = 0;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  ZR_OR_FAIL("cudaSetDevice");
  g_device = device;
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version) {
  ZR_OR_FAIL("cudaDriverGetVersion");
  *version = 13000;
  return cudaSuccess;
}
// What only `zerorun bench` calls.
cudaError_t cudaRuntimeGetVersion(int* version) { return cudaDriverGetVersion(version); }
cudaError_t cudaDeviceGetPCIBusId(char* id, int size, int) {
  ZR_OR_FAIL("cudaDeviceGetPCIBusId");
  std::snprintf(id, static_cast<std::size_t>(size), "0000:00:00.0");
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  ZR_OR_FAIL("cudaGetDeviceProperties");
  *properties = cudaDeviceProp{};
  std::strcpy(properties->name, "stand-in");
  properties->major = 9;
  properties->multiProcessorCount = 132;
  properties->totalGlobalMem = std::size_t{1} << 36;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr wanted, int) {
  ZR_OR_FAIL("cudaDeviceGetAttribute");
  *value = attribute(wanted);
  return cudaSuccess;
}
cudaError_t cudaMemGetInfo(std::size_t* free_bytes, std::size_t* all) {
  ZR_OR_FAIL("cudaMemGetInfo");
  *free_bytes = *all = std::size_t{1} << 36;
  return cudaSuccess;
}
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void*) {
  ZR_OR_FAIL("cudaFuncGetAttributes");
  *attributes = cudaFuncAttributes{};
  attributes->binaryVersion = attributes->ptxVersion = 90;
  attributes->numRegs = 32;
  attributes->maxThreadsPerBlock = 1024;
  return cudaSuccess;
}
cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int) {
  ZR_OR_FAIL("cudaFuncSetAttribute");
  return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void*, int,
                                                                   std::size_t, unsigned) {
  ZR_OR_FAIL("cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags");
  *blocks = 2;
  return cudaSuccess;
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  ZR_OR_FAIL("cudaPointerGetAttributes");
  *attributes = cudaPointerAttributes{};
  attributes->type = cudaMemoryTypeUnregistered;
  const std::lock_guard lock(g_mutex);
  auto found = g_memory.upper_bound(pointer);
  if (found == g_memory.begin()) return cudaSuccess;
  --found;
  const auto offset = static_cast<const char*>(pointer) - static_cast<const char*>(found->first);
  if (static_cast<std::size_t>(offset) < found->second.first)
    attributes->type = found->second.second;
  return cudaSuccess;
}

cudaError_t cudaMalloc(void** out, std::size_t bytes) {
  ZR_OR_FAIL("cudaMalloc");
  return allocated(out, bytes, cudaMemoryTypeDevice);
}
cudaError_t cudaHostAlloc(void** out, std::size_t bytes, unsigned) {
  ZR_OR_FAIL("cudaHostAlloc");
  return allocated(out, bytes, cudaMemoryTypeHost);
}
cudaError_t cudaMallocHost(void** out, std::size_t bytes) { return cudaHostAlloc(out, bytes, 0); }
cudaError_t cudaFree(void* memory) { return released(memory, fate("cudaFree")); }
cudaError_t cudaFreeHost(void* memory) { return released(memory, fate("cudaFreeHost")); }

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind,
                            cudaStream_t) {
  ZR_OR_FAIL("cudaMemcpyAsync");
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_stride, const void* from,
                              std::size_t from_stride, std::size_t width, std::size_t height,
                              cudaMemcpyKind, cudaStream_t) {
  ZR_OR_FAIL("cudaMemcpy2DAsync");
  for (std::size_t y = 0; y < height; ++y)
    std::memcpy(static_cast<char*>(to) + y * to_stride,
                static_cast<const char*>(from) + y * from_stride, width);
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t) {
  ZR_OR_FAIL("cudaMemsetAsync");
  std::memset(to, value, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemset2DAsync(void* to, std::size_t stride, int value, std::size_t width,
                              std::size_t height, cudaStream_t) {
  ZR_OR_FAIL("cudaMemset2DAsync");
  for (std::size_t y = 0; y < height; ++y)
    std::memset(static_cast<char*>(to) + y * stride, value, width);
  return cudaSuccess;
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return cudaMemcpyAsync(to, from, bytes, kind, nullptr);
}
cudaError_t cudaMemcpy2D(void* to, std::size_t to_stride, const void* from, std::size_t from_stride,
                         std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  return cudaMemcpy2DAsync(to, to_stride, from, from_stride, width, height, kind, nullptr);
}
cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
  return cudaMemsetAsync(to, value, bytes, nullptr);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* out, unsigned) {
  ZR_OR_FAIL("cudaStreamCreateWithFlags");
  return created(out);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return destroyed(stream, fate("cudaStreamDestroy"));
}
cudaError_t cudaStreamSynchronize(cudaStream_t) { return fate("cudaStreamSynchronize"); }
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) {
  return fate("cudaStreamWaitEvent");
}
cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  ZR_OR_FAIL("cudaStreamGetId");
  *id = reinterpret_cast<std::uintptr_t>(stream);
  return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* out, unsigned) {
  ZR_OR_FAIL("cudaEventCreateWithFlags");
  return created(out);
}
cudaError_t cudaEventCreate(cudaEvent_t* out) { return cudaEventCreateWithFlags(out, 0); }
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return destroyed(event, fate("cudaEventDestroy"));
}
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) { return fate("cudaEventRecord"); }
cudaError_t cudaEventQuery(cudaEvent_t) { return fate("cudaEventQuery"); }
cudaError_t cudaEventSynchronize(cudaEvent_t) { return fate("cudaEventSynchronize"); }
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t, cudaEvent_t) {
  ZR_OR_FAIL("cudaEventElapsedTime");
  *milliseconds = 0;
  return cudaSuccess;
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode*) { return cudaSuccess; }
cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus* status) {
  ZR_OR_FAIL("cudaStreamIsCapturing");
  *status = g_is_capturing ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode) {
  ZR_OR_FAIL("cudaStreamBeginCapture");
  g_is_capturing = true;
  return cudaSuccess;
}
cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t, cudaGraph_t graph, const cudaGraphNode_t*,
                                          const cudaGraphEdgeData*, std::size_t,
                                          cudaStreamCaptureMode) {
  ZR_OR_FAIL("cudaStreamBeginCaptureToGraph");
  g_is_capturing = true;
  g_graph_of_caller = graph;
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t* graph) {
  g_is_capturing = false;
  *graph = std::exchange(g_graph_of_caller, nullptr);
  ZR_OR_FAIL("cudaStreamEndCapture");
  return *graph != nullptr ? cudaSuccess : created(graph);
}
// Handles of nodes and of the graphs in them are never read: one stands for all.
#if CUDART_VERSION >= 13000
cudaError_t cudaStreamGetCaptureInfo(
#else
cudaError_t cudaStreamGetCaptureInfo_v3(
#endif
    cudaStream_t, cudaStreamCaptureStatus* status, unsigned long long*, cudaGraph_t*,
    const cudaGraphNode_t** nodes, const cudaGraphEdgeData** edges, std::size_t* count) {
  ZR_OR_FAIL("cudaStreamGetCaptureInfo");
  static const cudaGraphNode_t kNode = nullptr;
  *status = g_is_capturing ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  *nodes = &kNode;
  *edges = nullptr;
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned) {
  ZR_OR_FAIL("cudaGraphCreate");
  return created(graph);
}
cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* handle, cudaGraph_t,
                                             unsigned, unsigned) {
  ZR_OR_FAIL("cudaGraphConditionalHandleCreate");
  *handle = 1;
  return cudaSuccess;
}
#if CUDART_VERSION >= 13000
cudaError_t cudaGraphAddNode(
#else
cudaError_t cudaGraphAddNode_v2(
#endif
    cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t*, const cudaGraphEdgeData*,
    std::size_t, cudaGraphNodeParams* params) {
  ZR_OR_FAIL("cudaGraphAddNode");
  static thread_local cudaGraph_t body;
  body = graph;
  if (params->type == cudaGraphNodeTypeConditional) params->conditional.phGraph_out = &body;
  *node = nullptr;
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* out, cudaGraph_t, unsigned long long) {
  ZR_OR_FAIL("cudaGraphInstantiate");
  return created(out);
}
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t, cudaGraphNode_t,
                                             const cudaKernelNodeParams*) {
  return fate("cudaGraphExecKernelNodeSetParams");
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t, cudaStream_t) { return fate("cudaGraphLaunch"); }
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return destroyed(graph, fate("cudaGraphDestroy"));
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) {
  return destroyed(graph, fate("cudaGraphExecDestroy"));
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t*, const void*, void**) {
  return fate("cudaLaunchKernelExC");
}
cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void**, std::size_t, cudaStream_t) {
  return fate("cudaLaunchKernel");
}
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void*) {
  *kernel = nullptr;
  return cudaSuccess;
}
unsigned __cudaPushCallConfiguration(dim3, dim3, std::size_t, void*) { return 0; }
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared, void*) {
  *grid = *block = dim3{1, 1, 1};
  *shared = 0;
  return cudaSuccess;
}
void** __cudaRegisterFatBinary(void*) {
  static void* handle;
  return &handle;
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
void __cudaRegisterFunction(void**, const char*, char*, const char*, int, uint3*, uint3*, dim3*,
                            dim3*, int*) {}
void __cudaRegisterVar(void**, char*, char*, const char*, int, std::size_t, int, int) {}

}  // extern "C"
