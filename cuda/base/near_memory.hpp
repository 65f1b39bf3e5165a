// Pinned memory on the NUMA node of the GPU that uses it.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace zerorun {

/// Allocates on the node of the current device, where the machine has several nodes with memory and
/// the device tells its own; else anywhere. For every device. `bytes` > 0.
cudaError_t allocate_near(void** memory, std::size_t bytes);

/// Releases what allocate_near() gave. Memory that a broken device does not let go stays locked.
void release_near(void* memory) noexcept;

}  // namespace zerorun
