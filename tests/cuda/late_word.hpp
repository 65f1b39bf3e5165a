// A kernel that lets the one behind it begin before it has done anything.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace zerorun::test {

/// Enqueues a kernel that sets `*word`, in device memory, two milliseconds after it has begun.
cudaError_t write_late(std::uint32_t* word, std::uint32_t value, cudaStream_t stream);

}  // namespace zerorun::test
