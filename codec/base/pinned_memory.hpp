// Pinned host memory; codec/api/backend.cpp defines these by what was built.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "zerorun/status.hpp"

namespace zerorun {

/// Near the device of NearDevice. Errors: cuda_not_built, no_device, out_of_memory, device_failure.
Result<std::byte*> allocate_pinned(std::size_t bytes);
void release_pinned(std::byte* memory) noexcept;

/// From now on every HostBuffer of the process gets pageable memory where there is no pinned
/// memory: for a program that left the choice of the backend to the library, when its device
/// breaks.
void allow_pageable_instead();

/// Ordinary memory, aligned to 64 bytes, for std::free(). `bytes` is a multiple of 64.
Result<std::byte*> allocate_pageable(std::size_t bytes);

}  // namespace zerorun
