// Exclusive sum of 32-bit lengths in 64 bits, compiled once for the primitives that need it.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace zerorun::cuda_entropy {

/// As CUB: with scratch == nullptr only bytes is set.
cudaError_t scan_lengths(void* scratch, std::size_t& bytes, const std::uint32_t* lengths,
                         std::uint64_t size, std::uint64_t* offsets, cudaStream_t stream);

}  // namespace zerorun::cuda_entropy
