// How far a decoded picture is from its original, on a GPU.
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "apps/bench/quality/image.hpp"
#include "apps/bench/quality/score_sums.hpp"
#include "zerorun/status.hpp"

namespace zerorun::rd {

/// Keeps its memory from picture to picture. From any thread, but one call at a time.
class CudaMeter {
 public:
  virtual ~CudaMeter() = default;
  /// Reserves all memory that pictures of this size need, and keeps what depends on the original
  /// alone.
  virtual Status set_original(const Image& original) = 0;
  /// `distorted` has the size of the original. The same pictures have the same sums, to the last
  /// bit, each time and on each GPU.
  virtual Result<ScoreSums> sums(const Image& distorted) = 0;
};

/// Null in a build without CUDA.
[[gnu::weak]] Result<std::unique_ptr<CudaMeter>> make_cuda_meter(int device);

}  // namespace zerorun::rd
