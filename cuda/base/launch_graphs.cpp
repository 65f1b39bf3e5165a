// Makes, keeps and evicts CUDA graphs.
// SPDX-License-Identifier: MIT
#include "cuda/base/launch_graphs.hpp"

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

}  // namespace zerorun
