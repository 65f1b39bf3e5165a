// Prefix sums over device arrays, by CUB. In a file of its own because CUB takes long to compile.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/base/check.hpp"

namespace zerorun {

/// Temporary bytes that any scan of so many elements needs.
Status device_scan_temp_bytes(std::int64_t count, std::int64_t& bytes);

/// out[i] = in[0] + ... + in[i - 1]. `in` and `out` may be the same array. count < 2^31.
Status device_exclusive_scan(const std::uint32_t* in, std::uint32_t* out, std::int64_t count,
                             void* temp, std::int64_t temp_bytes, cudaStream_t stream);
Status device_exclusive_scan(const std::uint32_t* in, std::uint64_t* out, std::int64_t count,
                             void* temp, std::int64_t temp_bytes, cudaStream_t stream);
Status device_exclusive_scan(const std::uint64_t* in, std::uint64_t* out, std::int64_t count,
                             void* temp, std::int64_t temp_bytes, cudaStream_t stream);

}  // namespace zerorun
