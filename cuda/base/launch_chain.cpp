// Makes and keeps the graphs of a chain, and sets their arguments.
// SPDX-License-Identifier: MIT
#include "cuda/base/launch_chain.hpp"

#include <algorithm>

#include "cuda/base/apart_from_captures.hpp"
#include "cuda/base/check.hpp"
#include "cuda/base/graph_node.hpp"

namespace zerorun {

LaunchChain::~LaunchChain() { std::ranges::for_each(graphs_, forget); }

void LaunchChain::begin(cudaStream_t stream, bool together) {
  stream_ = stream;
  together_ = together;
  count_ = 0;
}

LaunchChain::Functions LaunchChain::functions() const {
  Functions out{};
  for (std::size_t i = 0; i < count_; ++i) out[i] = kernels_[i].function;
  return out;
}

/// The graph for the kernels; null if they come for the first time.
LaunchChain::Graph* LaunchChain::find() {
  const Functions wanted = functions();
  const auto found = std::ranges::find(graphs_, wanted, &Graph::functions);
  if (found != graphs_.end()) return &*found;
  Graph& oldest = graphs_[next_++ % graphs_.size()];
  forget(oldest);
  oldest.functions = wanted;
  return nullptr;
}

cudaError_t LaunchChain::launch() {
  if (!together_ || count_ == 0) return cudaSuccess;
  if (works_) {
    if (Graph* const graph = find(); graph != nullptr) {
      works_ = (graph->executable != nullptr || make(*graph)) && set_arguments(*graph);
      if (works_) {
        ++replays_;
        return cudaGraphLaunch(graph->executable, stream_);
      }
      // The driver knows no such graphs, or a kernel cannot be launched so: then the launch fails,
      // too, and says why.
      (void)cudaGetLastError();
    }
  }
  return launch_singly();
}

cudaError_t LaunchChain::launch_singly() {
  const KnownDevice* device = nullptr;
  if (cudaError_t error = current_device(device); error != cudaSuccess) return error;
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  for (std::size_t i = 0; i < count_; ++i) {
    Kernel& kernel = kernels_[i];
    const cudaLaunchConfig_t config =
        config_of(kernel.shape, stream_, attribute, device->limits.programmatic_launches ? 1 : 0);
    if (cudaError_t error = cudaLaunchKernelExC(&config, kernel.function, kernel.argument.data());
        error != cudaSuccess)
      return error;
  }
  return cudaSuccess;
}

bool LaunchChain::make(Graph& graph) {
  const ApartFromCaptures apart;
  return cudaGraphCreate(&graph.graph, 0) == cudaSuccess && add_nodes(graph) &&
         cudaGraphInstantiate(&graph.executable, graph.graph, 0) == cudaSuccess;
}

bool LaunchChain::add_nodes(Graph& graph) {
  const KnownDevice* device = nullptr;
  if (current_device(device) != cudaSuccess) return false;
  GraphEnd end{};
  if (device->limits.programmatic_launches) {
    end.edge.type = cudaGraphDependencyTypeProgrammatic;
    end.edge.from_port = cudaGraphKernelNodePortProgrammatic;
  }
  for (std::size_t i = 0; i < count_; ++i) {
    Kernel& kernel = kernels_[i];
    cudaGraphNodeParams params{};
    params.type = cudaGraphNodeTypeKernel;
    params.kernel.func = const_cast<void*>(kernel.function);
    params.kernel.gridDim = dim3(kernel.shape.grid, kernel.shape.grid_y);
    params.kernel.blockDim = dim3(kernel.shape.threads);
    params.kernel.sharedMemBytes = static_cast<unsigned>(kernel.shape.shared_bytes);
    params.kernel.kernelParams = kernel.argument.data();
    if (add_node(&graph.node[i], graph.graph, i > 0 ? &end : nullptr, &params) != cudaSuccess)
      return false;
    end.node = graph.node[i];
  }
  return true;
}

bool LaunchChain::set_arguments(const Graph& graph) {
  for (std::size_t i = 0; i < count_; ++i) {
    Kernel& kernel = kernels_[i];
    cudaKernelNodeParams params{};
    params.func = const_cast<void*>(kernel.function);
    params.gridDim = dim3(kernel.shape.grid, kernel.shape.grid_y);
    params.blockDim = dim3(kernel.shape.threads);
    params.sharedMemBytes = static_cast<unsigned>(kernel.shape.shared_bytes);
    params.kernelParams = kernel.argument.data();
    if (cudaGraphExecKernelNodeSetParams(graph.executable, graph.node[i], &params) != cudaSuccess)
      return false;
  }
  return true;
}

/// CUDA destroys a graph that still runs when it has completed.
void LaunchChain::forget(Graph& graph) noexcept {
  const ApartFromCaptures apart;
  if (graph.executable != nullptr) ignore_failure(cudaGraphExecDestroy(graph.executable));
  if (graph.graph != nullptr) ignore_failure(cudaGraphDestroy(graph.graph));
  graph = {};
}

}  // namespace zerorun
