// Which call of a CUDA runtime fails, and what has come of it: for the runtime without a GPU and
// for the real one in a wrapper. stand_in_cudart.hpp has the controls.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>

namespace zerorun::test::call_plan {

/// work: copies, kernels and waits, on which samples and streams depend; query: all others.
enum class Kind { query, work };

/// Counts a call; an error if it is the one that has to fail.
cudaError_t fate(Kind kind);

/// The error that the calling thread has got by fate(), once; that of a dead device for ever.
cudaError_t injected_error(bool forget) noexcept;

/// The call itself, if it did not fail before; the error of a call that is done in any case.
inline cudaError_t first_of(cudaError_t injected, cudaError_t real) {
  return injected != cudaSuccess ? injected : real;
}

/// Allocations, streams, events and graphs that exist.
extern std::atomic<long> g_live;

}  // namespace zerorun::test::call_plan
