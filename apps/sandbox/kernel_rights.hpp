// Landlock and seccomp.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "apps/sandbox/file_rights.hpp"

namespace zerorun::app::sandbox {

/// Leaves the calling thread, and all threads that it makes from now on, these files and the system
/// calls that coding needs, for ever. Returns "", or a sentence that says why the kernel cannot.
std::string leave_kernel_rights(const FileRights& files);

}  // namespace zerorun::app::sandbox
