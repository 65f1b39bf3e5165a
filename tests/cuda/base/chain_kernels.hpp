// Kernels for chains: each shows which others ran before it, and with what.
// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/base/launch_chain.hpp"

namespace zerorun::test {

inline constexpr std::uint32_t kChainValues = 5000;

/// `values[kChainValues]` become 3 * value + number.
cudaError_t add_append(LaunchChain& chain, std::uint32_t* values, std::uint32_t number);
/// They become 5 * value + number. Asks for `shared_bytes` of shared memory.
cudaError_t add_insert(LaunchChain& chain, std::uint32_t* values, std::uint32_t number,
                       std::size_t shared_bytes = 0);

}  // namespace zerorun::test
