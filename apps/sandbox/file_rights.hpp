// Which files a command may open in the sandbox.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "apps/common/cli_names.hpp"

namespace zerorun::app::sandbox {

/// Files, and folders with all that is in them.
struct FileRights {
  std::vector<std::string> readable;
  std::vector<std::string> writable;  ///< readable, too
  bool with_gpu = false;              ///< the files of NVIDIA's driver, and its system calls
};

/// What the options of `command` name: the files of INPUT, the folder of OUTPUT (where its
/// unfinished file lies, too), files of options, and what libraries and drivers read.
FileRights file_rights(const CLI::App& command);

}  // namespace zerorun::app::sandbox
