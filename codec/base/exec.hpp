// Where a stage runs.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "zerorun/backend.hpp"
#include "zerorun/status.hpp"

namespace zerorun {

/// One queue of stage calls. CPU stages finish before they return; CUDA stages are enqueued.
struct Exec {
  Backend backend = Backend::cpu;
  void* stream = nullptr;  ///< cudaStream_t; CPU: unused
  /// Scratch memory of the CUDA stages (cuda/base/scratch.hpp); CPU: unused.
  void* scratch = nullptr;
  /// Row buffers for the CPU stages, owned by the pipeline; null: the stage allocates its own.
  std::vector<std::uint8_t>* rows = nullptr;
};

}  // namespace zerorun
