// Controls of the CUDA runtime without a GPU, for tests that are linked with it.
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
/// Allocations, streams, events and graphs that exist.
long live() noexcept;

}  // namespace zerorun::test::stand_in
