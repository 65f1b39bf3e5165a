// Makes, keeps and evicts the CUDA graphs of LaunchGraphs and of LaunchChain.
// SPDX-License-Identifier: MIT
#include "cuda/base/launch_chain.hpp"

#include <algorithm>

namespace zerorun {
namespace {

/// While a thread captures, CUDA refuses some calls to all other threads, except to those that have
/// chosen the relaxed mode, as this object does while it lives.
class ApartFromCaptures {
 public:
  ApartFromCaptures() { (void)cudaThreadExchangeStreamCaptureMode(&mode_); }
  ~ApartFromCaptures() { (void)cudaThreadExchangeStreamCaptureMode(&mode_); }
  ApartFromCaptures(const ApartFromCaptures&) = delete;
  ApartFromCaptures& operator=(const ApartFromCaptures&) = delete;

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

/// Adds a node behind `behind`, or the first one of the graph.
cudaError_t add_node(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* behind,
                     const cudaGraphEdgeData& edge, cudaGraphNodeParams* params) {
  const std::size_t edges = behind != nullptr ? 1 : 0;
  const cudaGraphEdgeData* const data = behind != nullptr ? &edge : nullptr;
#if CUDART_VERSION >= 13000  // since then the plain names are those with edges
  return cudaGraphAddNode(node, graph, behind, data, edges, params);
#else
  return cudaGraphAddNode_v2(node, graph, behind, data, edges, params);
#endif
}

}  // namespace

Status LaunchGraphs::run(const Key& key, cudaStream_t stream, const Enqueue& enqueue) {
  const auto entry = std::ranges::find(entries_, key, &Entry::key);
  if (entry == entries_.end()) {
    Entry& oldest = *std::ranges::min_element(entries_, {}, &Entry::last_use);
    forget(oldest);
    oldest.key = key;
    oldest.last_use = ++uses_;
    return enqueue(stream);
  }
  entry->last_use = ++uses_;
  if (entry->graph == nullptr && works_) {
    entry->graph = capture(enqueue);
    works_ = entry->graph != nullptr;
  }
  if (entry->graph == nullptr) return enqueue(stream);
  ZR_CUDA_TRY(cudaGraphLaunch(entry->graph, stream));
  ++replays_;
  return Status::ok();
}

void LaunchGraphs::forget_all() noexcept {
  std::ranges::for_each(entries_, forget);
  works_ = true;
}

/// Null if the device or its driver cannot capture, or if a launch fails, which then reports why.
cudaGraphExec_t LaunchGraphs::capture(const Enqueue& enqueue) {
  const ApartFromCaptures apart;
  if (recording_.get() == nullptr && !recording_.create()) return nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  if (cudaStreamBeginCapture(recording_.get(), cudaStreamCaptureModeRelaxed) == cudaSuccess) {
    const Status enqueued = enqueue(recording_.get());
    const bool captured = cudaStreamEndCapture(recording_.get(), &graph) == cudaSuccess;
    if (!enqueued || !captured || cudaGraphInstantiate(&executable, graph, 0) != cudaSuccess)
      executable = nullptr;
  }
  if (graph != nullptr) ignore_failure(cudaGraphDestroy(graph));
  if (executable == nullptr) (void)cudaGetLastError();
  return executable;
}

/// CUDA destroys a graph that still runs when it has completed.
void LaunchGraphs::forget(Entry& entry) noexcept {
  if (entry.graph != nullptr) {
    const ApartFromCaptures apart;
    ignore_failure(cudaGraphExecDestroy(entry.graph));
  }
  entry = {};
}

LaunchChain::~LaunchChain() { std::ranges::for_each(graphs_, forget); }

void LaunchChain::begin(cudaStream_t stream, bool together) {
  stream_ = stream;
  together_ = together;
  count_ = 0;
}

/// The graph for the kernels; null if they come for the first time.
LaunchChain::Graph* LaunchChain::find() {
  Functions wanted{};
  for (std::size_t i = 0; i < count_; ++i) wanted[i] = kernels_[i].function;
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
  const DeviceLimits* limits = nullptr;
  if (cudaError_t error = current_device(limits); error != cudaSuccess) return error;
  cudaLaunchAttribute attribute = behind_attribute();
  for (std::size_t i = 0; i < count_; ++i) {
    Kernel& kernel = kernels_[i];
    const cudaLaunchConfig_t config =
        config_of(kernel.shape, stream_, attribute, limits->programmatic_launches ? 1 : 0);
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

/// `Params`: CUDA has two kinds, with the same members.
template <typename Params>
void LaunchChain::fill(Params& params, Kernel& kernel) {
  params.func = const_cast<void*>(kernel.function);
  params.gridDim = dim3(kernel.shape.grid, kernel.shape.grid_y);
  params.blockDim = dim3(kernel.shape.threads);
  params.sharedMemBytes = static_cast<unsigned>(kernel.shape.shared_bytes);
  params.kernelParams = kernel.argument.data();
}

bool LaunchChain::add_nodes(Graph& graph) {
  const DeviceLimits* limits = nullptr;
  if (current_device(limits) != cudaSuccess) return false;
  cudaGraphEdgeData edge{};
  if (limits->programmatic_launches) {
    edge.type = cudaGraphDependencyTypeProgrammatic;
    edge.from_port = cudaGraphKernelNodePortProgrammatic;
  }
  for (std::size_t i = 0; i < count_; ++i) {
    cudaGraphNodeParams params{};
    params.type = cudaGraphNodeTypeKernel;
    fill(params.kernel, kernels_[i]);
    const cudaGraphNode_t* const behind = i > 0 ? &graph.node[i - 1] : nullptr;
    if (add_node(&graph.node[i], graph.graph, behind, edge, &params) != cudaSuccess) return false;
  }
  return true;
}

bool LaunchChain::set_arguments(const Graph& graph) {
  for (std::size_t i = 0; i < count_; ++i) {
    cudaKernelNodeParams params{};
    fill(params, kernels_[i]);
    if (cudaGraphExecKernelNodeSetParams(graph.executable, graph.node[i], &params) != cudaSuccess)
      return false;
  }
  return true;
}

void LaunchChain::forget(Graph& graph) noexcept {
  const ApartFromCaptures apart;
  if (graph.executable != nullptr) ignore_failure(cudaGraphExecDestroy(graph.executable));
  if (graph.graph != nullptr) ignore_failure(cudaGraphDestroy(graph.graph));
  graph = {};
}

}  // namespace zerorun
