// operator new, malloc() and aligned_alloc() of a test program that fail at a wanted call, count
// their calls, and what is not freed. malloc() needs the linker's --wrap, see CMakeLists.txt.
// SPDX-License-Identifier: MIT
#pragma once

namespace zerorun::test::memory {

/// The `number`th allocation from now on fails, from 1 on; `lasting`: all later ones do, too.
void fail_at(long number, bool lasting) noexcept;
/// Nothing fails any more.
void let_all_pass() noexcept;
/// True if an allocation has failed since fail_at().
bool has_failed() noexcept;
/// Allocations so far, and those that were not freed yet.
long made() noexcept;
long live() noexcept;

}  // namespace zerorun::test::memory
