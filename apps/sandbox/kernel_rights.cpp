// Landlock and seccomp, one after the other.
// SPDX-License-Identifier: MIT
#include "apps/sandbox/kernel_rights.hpp"

#include <sys/prctl.h>

#include <string>

#include "apps/sandbox/kernel_parts.hpp"

namespace zerorun::app::sandbox {

std::string leave_kernel_rights(const FileRights& files) {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return system_sentence("no_new_privs");
  std::string problem = leave_files(files);
  return problem.empty() ? leave_calls(files.with_gpu) : problem;
}

}  // namespace zerorun::app::sandbox
