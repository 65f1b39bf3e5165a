// A node of a graph behind another, by its name in each version of CUDA.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

namespace zerorun {

/// The place in a graph behind which the next node goes.
struct GraphEnd {
  cudaGraphNode_t node;
  cudaGraphEdgeData edge;
};

/// `end`: null for the first node.
inline cudaError_t add_node(cudaGraphNode_t* node, cudaGraph_t graph, const GraphEnd* end,
                            cudaGraphNodeParams* params) {
  const cudaGraphNode_t* const behind = end != nullptr ? &end->node : nullptr;
  const cudaGraphEdgeData* const edge = end != nullptr ? &end->edge : nullptr;
  const std::size_t edges = end != nullptr ? 1 : 0;
#if CUDART_VERSION >= 13000  // since then the plain names are those with edges
  return cudaGraphAddNode(node, graph, behind, edge, edges, params);
#else
  return cudaGraphAddNode_v2(node, graph, behind, edge, edges, params);
#endif
}

}  // namespace zerorun
