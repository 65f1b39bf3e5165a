// Captures, keeps and evicts graphs.
// SPDX-License-Identifier: MIT
#include "cuda/base/launch_graphs.hpp"

#include <algorithm>

#include "cuda/base/check.hpp"

namespace zerorun {
namespace {

/// While a thread captures, CUDA refuses some calls to all other threads, except to those that have
/// chosen the relaxed mode, as this object does.
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
  Entry* const entry = find(key);
  if (entry == nullptr) {
    remember(key);
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
  std::for_each(entries_.begin(), entries_.end(), forget);
  works_ = true;
}

LaunchGraphs::Entry* LaunchGraphs::find(const Key& key) {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& entry) { return entry.key == key; });
  return found == entries_.end() ? nullptr : &*found;
}

void LaunchGraphs::remember(const Key& key) {
  Entry& oldest =
      *std::min_element(entries_.begin(), entries_.end(),
                        [](const Entry& a, const Entry& b) { return a.last_use < b.last_use; });
  forget(oldest);
  oldest.key = key;
  oldest.last_use = ++uses_;
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
    if (enqueued && captured && cudaGraphInstantiate(&executable, graph, 0) != cudaSuccess)
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
  entry.graph = nullptr;
  entry.key.clear();
  entry.last_use = 0;
}

}  // namespace zerorun
