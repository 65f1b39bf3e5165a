// Kernels that are launched again and again become CUDA graphs: the host then makes one launch
// instead of several.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>

#include "cuda/base/launch.hpp"
#include "cuda/base/memory.hpp"

namespace zerorun {

// Launches that are repeated with the same arguments.

/// For one device. A key holds everything that the launches depend on. Launches are captured when
/// their key comes a second time, since a graph pays only if it is repeated; the least recently
/// used entries are evicted. 1920x1080 at q90 in eight encoders (H200): 7.1 us a frame with
/// launches, 6.0 with graphs; with optimal tables 17.5 and 10.5.
class LaunchGraphs {
 public:
  using Key = std::vector<std::uint64_t>;
  /// Enqueues kernels, and nothing else, on the stream that it is given.
  using Enqueue = std::function<Status(cudaStream_t)>;

  LaunchGraphs() = default;
  ~LaunchGraphs() { forget_all(); }
  LaunchGraphs(const LaunchGraphs&) = delete;
  LaunchGraphs& operator=(const LaunchGraphs&) = delete;

  /// Does what enqueue(stream) does, by a graph if there is one for the key.
  Status run(const Key& key, cudaStream_t stream, const Enqueue& enqueue);

  /// Call it before memory that a launch uses is released.
  void forget_all() noexcept;

  /// Calls of run() that launched a graph.
  std::uint64_t replays() const noexcept { return replays_; }

 private:
  struct Entry {
    Key key;  // empty: none
    cudaGraphExec_t graph = nullptr;
    std::uint64_t last_use = 0;
  };

  cudaGraphExec_t capture(const Enqueue& enqueue);
  static void forget(Entry& entry) noexcept;

  /// Enough for some frames that take turns, each with both halves of the encoder's memory.
  std::array<Entry, 32> entries_;
  std::uint64_t uses_ = 0, replays_ = 0;
  Stream recording_;
  bool works_ = true;  // no capture has failed yet
};

// Kernels that are launched one behind the other with other arguments each time: a graph whose
// nodes get new arguments.

/// For one device and one thread at a time. A graph is made when the same kernels come a second
/// time, and a few are kept.
class LaunchChain {
 public:
  LaunchChain() = default;
  ~LaunchChain();
  LaunchChain(const LaunchChain&) = delete;
  LaunchChain& operator=(const LaunchChain&) = delete;

  /// Kernels that are added next go to `stream`: together, or each one at once.
  void begin(cudaStream_t stream, bool together);

  /// As launch_behind(): the kernel begins with wait_for_previous_kernel(). What its arguments
  /// point to must be there until the kernel has run.
  template <typename... Args>
  cudaError_t add(void (*kernel)(Args...), const LaunchShape& shape, const Args&... args) {
    if (!together_) return launch_behind(kernel, shape, stream_, args...);
    static_assert(sizeof...(Args) <= kMostArguments &&
                  (0 + ... + round_up(sizeof(Args), kAlignment)) <= kMostBytes &&
                  ((alignof(Args) <= kAlignment) && ...));
    if (count_ == kMostKernels) return cudaErrorInvalidValue;
    Kernel& added = kernels_[count_++];
    added.function = reinterpret_cast<const void*>(kernel);
    added.shape = shape;
    std::size_t number = 0, at = 0;
    const auto append = [&](const auto& argument) {
      std::memcpy(added.bytes + at, &argument, sizeof argument);
      added.argument[number++] = added.bytes + at;
      at += round_up(sizeof argument, kAlignment);
    };
    (append(args), ...);
    return cudaSuccess;
  }

  /// Enqueues what was added together.
  cudaError_t launch();

  /// Calls of launch() that launched a graph.
  std::uint64_t replays() const { return replays_; }

 private:
  static constexpr std::size_t kMostKernels = 4, kMostArguments = 2, kMostBytes = 1024,
                               kAlignment = 16, kMostGraphs = 4;

  struct Kernel {
    const void* function;
    LaunchShape shape;
    std::array<void*, kMostArguments> argument;
    alignas(kAlignment) std::byte bytes[kMostBytes];
  };
  using Functions = std::array<const void*, kMostKernels>;  // null behind the last
  struct Graph {
    Functions functions{};
    std::array<cudaGraphNode_t, kMostKernels> node{};
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;  // null: the kernels came once
  };

  Graph* find();
  bool make(Graph& graph);
  template <typename Params>
  static void fill(Params& params, Kernel& kernel);
  bool add_nodes(Graph& graph);
  bool set_arguments(const Graph& graph);
  cudaError_t launch_singly();
  static void forget(Graph& graph) noexcept;

  cudaStream_t stream_ = nullptr;
  bool together_ = false;
  std::size_t count_ = 0;
  std::array<Kernel, kMostKernels> kernels_;
  std::array<Graph, kMostGraphs> graphs_;
  std::size_t next_ = 0;  // of graphs_, to be overwritten
  bool works_ = true;     // no graph has failed yet
  std::uint64_t replays_ = 0;
};

}  // namespace zerorun
