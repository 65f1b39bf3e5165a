// A kernel that lets the one behind it begin before it has done anything.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace zerorun::test {

/// Enqueues it: `to[words]`, which may be pinned memory, becomes `value` when `nanoseconds` have
/// passed.
cudaError_t write_late(std::uint32_t* to, std::uint32_t words, std::uint32_t value,
                       std::uint32_t nanoseconds, cudaStream_t stream);

/// One word of device memory, after two milliseconds.
inline cudaError_t write_late(std::uint32_t* word, std::uint32_t value, cudaStream_t stream) {
  return write_late(word, 1, value, 2'000'000, stream);
}

}  // namespace zerorun::test
