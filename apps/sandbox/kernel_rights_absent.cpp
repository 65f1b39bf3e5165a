// A build without libseccomp.
// SPDX-License-Identifier: MIT
#include "apps/sandbox/kernel_rights.hpp"

namespace zerorun::app::sandbox {

std::string leave_kernel_rights(const FileRights&) { return "this build has no libseccomp"; }

}  // namespace zerorun::app::sandbox
