// Controls of the wrapper around the real CUDA runtime, beyond those of stand_in_cudart.hpp.
// SPDX-License-Identifier: MIT
#pragma once

namespace zerorun::test::wrapped {

/// Device and pinned memory that the calling thread allocates from now on is full of these bytes;
/// -1: of whatever it holds.
void fill_new_memory(int value) noexcept;
/// Allocations that were filled, of all threads.
long filled() noexcept;

/// What the process has allocated and not freed.
long live_device_bytes() noexcept;
long live_pinned_bytes() noexcept;

}  // namespace zerorun::test::wrapped
