// Kernels that are launched one behind the other, again and again with other arguments: a CUDA
// graph whose nodes get new arguments each time. The host then makes one launch instead of several.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstring>

#include "cuda/base/launch.hpp"
#include "zerorun/status.hpp"

namespace zerorun {

/// For one device and one thread at a time. (LaunchGraphs is for launches that are the same each
/// time.) A graph is made when the same kernels come a second time, and a few are kept.
class LaunchChain {
 public:
  LaunchChain() = default;
  ~LaunchChain();
  LaunchChain(const LaunchChain&) = delete;
  LaunchChain& operator=(const LaunchChain&) = delete;

  /// What is added from now on goes to `stream`: together, or each kernel at once.
  void begin(cudaStream_t stream, bool together);

  /// As launch_behind(): the kernel begins with wait_for_previous_kernel(). What its arguments
  /// point to must be there until the kernel has run.
  template <typename... Args>
  cudaError_t add(void (*kernel)(Args...), LaunchShape shape, const Args&... args) {
    if (!together_) return launch_behind(kernel, shape, stream_, args...);
    static_assert(sizeof...(Args) <= kMostArguments &&
                  (0 + ... + round_up(sizeof(Args), kAlignment)) <= kMostBytes &&
                  ((alignof(Args) <= kAlignment) && ...));
    if (count_ == kMostKernels) return cudaErrorInvalidValue;
    const auto* const function = reinterpret_cast<const void*>(kernel);
    if (const cudaError_t error = fit_limits(function, shape); error != cudaSuccess) return error;
    Kernel& added = kernels_[count_++];
    added.function = function;
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

  Functions functions() const;
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
