// Launches that are repeated with the same arguments become a CUDA graph: the host then makes one
// call instead of one for each kernel.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "cuda/base/memory.hpp"
#include "zerorun/status.hpp"

namespace zerorun {

/// For one device. A key holds everything that the launches depend on. Launches are captured when
/// their key comes a second time, since a graph is worth its making only if it is repeated; the
/// least recently used entries are evicted. Microseconds a frame on an H200, q90, 4:2:0, with
/// launches -> with graphs:
///
///                                  one frame alone   eight encoders side by side
///   3840x2160                      42.5 -> 39.2      24.2 -> 23.4
///   1920x1080                      25.9 -> 23.1       7.1 ->  6.0
///   1920x1080, optimal tables      51.0 -> 46.5      17.5 -> 10.5
///   256x256                        19.9 -> 17.3       6.5 ->  3.3
class LaunchGraphs {
 public:
  using Key = std::vector<std::uint64_t>;
  /// Enqueues kernels, and nothing else, on the stream that it is given.
  using Enqueue = std::function<Status(cudaStream_t)>;
  /// Launches of which only the device knows how many are needed.
  struct Rounds {
    Enqueue first, round;  ///< each call of `round` enqueues the same launches
    int most;              ///< of `round`, after `first`
    /// In device memory. If it is not 0 after `first` or a round, the rounds that follow change
    /// nothing.
    const std::uint32_t* ends;
  };

  LaunchGraphs() = default;
  ~LaunchGraphs() { forget_all(); }
  LaunchGraphs(const LaunchGraphs&) = delete;
  LaunchGraphs& operator=(const LaunchGraphs&) = delete;

  /// Does what enqueue(stream) does, by a graph if there is one for the key.
  Status run(const Key& key, cudaStream_t stream, const Enqueue& enqueue) {
    return run(key, stream, Rounds{enqueue, nullptr, 0, nullptr});
  }

  /// The same for all rounds. In a graph they are a loop that the device leaves when they end,
  /// where the driver has such loops; else the kernels of the rounds that are not needed have to
  /// skip their work themselves.
  Status run(const Key& key, cudaStream_t stream, const Rounds& rounds);

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

  Entry* find(const Key& key);
  void remember(const Key& key);
  cudaGraphExec_t capture(const Rounds& rounds);
  cudaGraphExec_t capture_loop(const Rounds& rounds);
  cudaGraphExec_t capture_all(const Rounds& rounds);
  static void forget(Entry& entry) noexcept;

  /// Enough for some frames that take turns, each with both halves of the encoder's memory.
  std::array<Entry, 32> entries_;
  std::uint64_t uses_ = 0, replays_ = 0;
  Stream recording_;
  bool works_ = true;       // no capture has failed yet
  bool loops_work_ = true;  // nor one of a loop
};

}  // namespace zerorun
