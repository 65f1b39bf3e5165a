// Conditional nodes. Their kernel has a file to itself: a driver that does not know them cannot
// load it, and then all other kernels still run.
// SPDX-License-Identifier: MIT
#include "cuda/base/graph_loop.hpp"

#include <cstddef>

#include "cuda/base/check.hpp"
#include "cuda/base/graph_node.hpp"
#include "cuda/base/launch.hpp"

namespace zerorun {
namespace {

using Enqueue = std::function<Status(cudaStream_t)>;

__global__ void __launch_bounds__(32)
    set_condition_kernel(cudaGraphConditionalHandle loop, const std::uint32_t* ends) {
  wait_for_previous_kernel();
  if (threadIdx.x == 0) cudaGraphSetConditional(loop, *ends == 0 ? 1 : 0);
}

// Since CUDA 13 the plain names are those with edges.
#if CUDART_VERSION >= 13000
cudaError_t capture_info(cudaStream_t stream, cudaStreamCaptureStatus* status,
                         const cudaGraphNode_t** nodes, const cudaGraphEdgeData** edges,
                         std::size_t* count) {
  return cudaStreamGetCaptureInfo(stream, status, nullptr, nullptr, nodes, edges, count);
}
#else
cudaError_t capture_info(cudaStream_t stream, cudaStreamCaptureStatus* status,
                         const cudaGraphNode_t** nodes, const cudaGraphEdgeData** edges,
                         std::size_t* count) {
  return cudaStreamGetCaptureInfo_v3(stream, status, nullptr, nullptr, nodes, edges, count);
}
#endif

/// False if the capture is broken, or ends in several nodes.
bool find_end(cudaStream_t stream, GraphEnd& end) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  const cudaGraphNode_t* nodes = nullptr;
  const cudaGraphEdgeData* edges = nullptr;
  std::size_t count = 0;
  if (capture_info(stream, &status, &nodes, &edges, &count) != cudaSuccess) return false;
  if (status != cudaStreamCaptureStatusActive || count != 1) return false;
  end.node = nodes[0];
  end.edge = edges != nullptr ? edges[0] : cudaGraphEdgeData{};
  return true;
}

/// Captures into `graph` what `enqueue` launches, and then the kernel that decides about the loop.
bool record(cudaGraph_t graph, cudaStream_t stream, const Enqueue& enqueue,
            cudaGraphConditionalHandle loop, const std::uint32_t* ends, GraphEnd& end) {
  if (cudaStreamBeginCaptureToGraph(stream, graph, nullptr, nullptr, 0,
                                    cudaStreamCaptureModeRelaxed) != cudaSuccess)
    return false;
  const bool is_recorded =
      enqueue(stream) &&
      launch_behind(set_condition_kernel, 1, 32, stream, loop, ends) == cudaSuccess &&
      find_end(stream, end);
  cudaGraph_t same = nullptr;
  return cudaStreamEndCapture(stream, &same) == cudaSuccess && is_recorded;
}

/// The body is empty. Null if it fails.
cudaGraph_t add_loop(cudaGraph_t graph, cudaGraphConditionalHandle loop, const GraphEnd& end) {
  cudaGraphNodeParams params{};
  params.type = cudaGraphNodeTypeConditional;
  params.conditional.handle = loop;
  params.conditional.type = cudaGraphCondTypeWhile;
  params.conditional.size = 1;
  cudaGraphNode_t node = nullptr;
  if (add_node(&node, graph, &end, &params) != cudaSuccess) return nullptr;
  return params.conditional.phGraph_out[0];
}

/// Under MPS the bodies of loops may have no kernels whose CTAs wait for each other. Loads the
/// kernel, too, since it is better not to do that during a capture.
bool may_loop() {
  int device = 0, is_shared = 1;
  cudaFuncAttributes attributes{};
  return cudaGetDevice(&device) == cudaSuccess &&
         cudaDeviceGetAttribute(&is_shared, cudaDevAttrMpsEnabled, device) == cudaSuccess &&
         is_shared == 0 && cudaFuncGetAttributes(&attributes, set_condition_kernel) == cudaSuccess;
}

}  // namespace

bool record_loop(cudaGraph_t graph, cudaStream_t stream, const Enqueue& first, const Enqueue& body,
                 const std::uint32_t* ends) {
  cudaGraphConditionalHandle loop{};
  GraphEnd end{};
  if (!may_loop() ||
      cudaGraphConditionalHandleCreate(&loop, graph, 0, cudaGraphCondAssignDefault) != cudaSuccess)
    return false;
  if (!record(graph, stream, first, loop, ends, end)) return false;
  cudaGraph_t of_body = add_loop(graph, loop, end);
  return of_body != nullptr && record(of_body, stream, body, loop, ends, end);
}

}  // namespace zerorun
