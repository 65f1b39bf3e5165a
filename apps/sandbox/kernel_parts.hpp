// The two halves of leave_kernel_rights(). Each returns a sentence about what failed, or "".
// SPDX-License-Identifier: MIT
#pragma once

#include <cerrno>
#include <cstring>
#include <string>

#include "apps/sandbox/kernel_rights.hpp"

namespace zerorun::app::sandbox {

/// Landlock: which files may be opened.
std::string leave_files(const FileRights& files);
/// Seccomp: which system calls there are.
std::string leave_calls(bool with_gpu);

/// `what` and the reason in errno.
inline std::string system_sentence(const char* what) {
  return std::string(what) + ": " + std::strerror(errno);
}

}  // namespace zerorun::app::sandbox
