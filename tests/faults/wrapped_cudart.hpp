// Controls of the wrapper around the real CUDA runtime, beyond those of stand_in_cudart.hpp.
// SPDX-License-Identifier: MIT
#pragma once

namespace zerorun::test::wrapped {

/// What the process has allocated and not freed.
long live_device_bytes() noexcept;
long live_pinned_bytes() noexcept;

}  // namespace zerorun::test::wrapped
