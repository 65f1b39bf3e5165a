// What a thread gives up by Landlock and seccomp.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace zerorun::app::sandbox {

/// Files, and folders with all that is in them.
struct FileRights {
  std::vector<std::string> readable;
  std::vector<std::string> writable;  ///< readable, too
  bool with_gpu = false;              ///< the files of NVIDIA's driver, and its system calls
  bool with_network = false;          ///< sockets, for an INPUT that is an address
  bool with_camera = false;           ///< ioctl of Video4Linux; the device is a writable file
};

/// Leaves the calling thread, and all threads that it makes from now on, these files and the system
/// calls that coding needs, for ever. Returns "", or a sentence that says why the kernel cannot.
std::string leave_kernel_rights(const FileRights& files);

}  // namespace zerorun::app::sandbox
