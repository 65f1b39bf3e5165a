// A loop in a CUDA graph that the device leaves by itself: what is not needed is not launched.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>

#include "zerorun/status.hpp"

namespace zerorun {

/// Captures into `graph`, which is empty, what `first` enqueues, and then a loop of what `body`
/// enqueues. The loop ends when *ends, in device memory, is not 0; it is read after `first` and
/// after each `body`. `stream` is one that can be captured. False, and the graph is of no use, if a
/// call fails or the driver has no such loops.
bool record_loop(cudaGraph_t graph, cudaStream_t stream,
                 const std::function<Status(cudaStream_t)>& first,
                 const std::function<Status(cudaStream_t)>& body, const std::uint32_t* ends);

}  // namespace zerorun
