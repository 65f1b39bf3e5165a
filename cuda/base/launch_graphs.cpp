// Captures, keeps and evicts graphs.
// SPDX-License-Identifier: MIT
#include "cuda/base/launch_graphs.hpp"

#include <algorithm>

#include "cuda/base/apart_from_captures.hpp"
#include "cuda/base/check.hpp"
#include "cuda/base/graph_loop.hpp"

namespace zerorun {
namespace {

Status enqueue_all(const LaunchGraphs::Rounds& rounds, cudaStream_t stream) {
  ZR_TRY(rounds.first(stream));
  for (int i = 0; i < rounds.most; ++i) ZR_TRY(rounds.round(stream));
  return Status::ok();
}

/// Null if it fails.
cudaGraphExec_t instantiate(cudaGraph_t graph) {
  cudaGraphExec_t executable = nullptr;
  return cudaGraphInstantiate(&executable, graph, 0) == cudaSuccess ? executable : nullptr;
}

}  // namespace

Status LaunchGraphs::run(const Key& key, cudaStream_t stream, const Rounds& rounds) {
  Entry* const entry = find(key);
  if (entry == nullptr) {
    remember(key);
    return enqueue_all(rounds, stream);
  }
  entry->last_use = ++uses_;
  if (entry->graph == nullptr && works_) {
    entry->graph = capture(rounds);
    works_ = entry->graph != nullptr;
  }
  if (entry->graph == nullptr) return enqueue_all(rounds, stream);
  ZR_CUDA_TRY(cudaGraphLaunch(entry->graph, stream));
  ++replays_;
  return Status::ok();
}

void LaunchGraphs::forget_all() noexcept {
  std::for_each(entries_.begin(), entries_.end(), forget);
  works_ = loops_work_ = true;
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
cudaGraphExec_t LaunchGraphs::capture(const Rounds& rounds) {
  const ApartFromCaptures apart;
  if (recording_.get() == nullptr && !recording_.create()) return nullptr;
  if (rounds.most > 0 && loops_work_) {
    if (cudaGraphExec_t loop = capture_loop(rounds); loop != nullptr) return loop;
    loops_work_ = false;
  }
  return capture_all(rounds);
}

cudaGraphExec_t LaunchGraphs::capture_loop(const Rounds& rounds) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  if (cudaGraphCreate(&graph, 0) == cudaSuccess) {
    if (record_loop(graph, recording_.get(), rounds.first, rounds.round, rounds.ends))
      executable = instantiate(graph);
    ignore_failure(cudaGraphDestroy(graph));
  }
  if (executable == nullptr) (void)cudaGetLastError();
  return executable;
}

cudaGraphExec_t LaunchGraphs::capture_all(const Rounds& rounds) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  if (cudaStreamBeginCapture(recording_.get(), cudaStreamCaptureModeRelaxed) == cudaSuccess) {
    const Status enqueued = enqueue_all(rounds, recording_.get());
    const bool captured = cudaStreamEndCapture(recording_.get(), &graph) == cudaSuccess;
    if (enqueued && captured) executable = instantiate(graph);
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
