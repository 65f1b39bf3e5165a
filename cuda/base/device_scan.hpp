// Prefix sums over device arrays, by CUB. In a file of its own because CUB takes long to compile.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "cuda/base/check.hpp"

namespace zerorun {

/// Temporary bytes that a scan of `count` elements needs.
Status device_scan_temp_bytes(std::int64_t count, std::int64_t& bytes);

/// out[i] = in[0] + ... + in[i - 1], summed in the type of `out`. The arrays may be the same one.
/// From 32 to 32, from 32 to 64 and from 64 to 64 bits.
template <typename In, typename Out>
Status device_exclusive_scan(const In* in, Out* out, std::int64_t count, void* temp,
                             std::int64_t temp_bytes, cudaStream_t stream);

}  // namespace zerorun
