// Controls of the CUDA runtime without a GPU, and of the real one in a wrapper, for tests that are
// linked with either.
// SPDX-License-Identifier: MIT
#pragma once

namespace zerorun::test::stand_in {

enum class How { memory, call, fault };

/// The `number`th call from now on fails, from 1 on; 0: none. With `fault` all later ones fail,
/// too.
void fail_at(long number, How how);
/// Calls since fail_at().
long calls();
/// Whether a `fault` has come and a copy, a kernel or a wait has failed since.
bool has_lost_work();
/// Whether a `call` or `memory` has come: calls that begin now have nothing to fail for.
bool is_over();
/// Allocations, streams, events and graphs that exist.
long live() noexcept;
/// Whether kernels do their work: they do where the real runtime is wrapped (wrapped_cudart.cpp).
bool computes() noexcept;

}  // namespace zerorun::test::stand_in
