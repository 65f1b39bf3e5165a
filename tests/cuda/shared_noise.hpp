// Fills shared memory as earlier kernels would. In a fresh process it is mostly zero.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace zerorun::test {

/// Fills the shared memory of all processors of the current device with noise, and waits for it.
cudaError_t fill_shared_memory(std::uint32_t seed);

}  // namespace zerorun::test
