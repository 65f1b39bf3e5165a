// Runs a program and takes its time, as a user's shell would.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "zerorun/status.hpp"

namespace zerorun::app::bench {

struct ChildRun {
  int exit_code = 0;       ///< 128 + number after a signal
  double seconds = 0;      ///< from its start to its end
  double cpu_seconds = 0;  ///< of all its threads, user and system
};

/// Runs `words`, whose first is the program: looked up in PATH unless it has a slash. Stdout goes
/// to /dev/null, or is the file `out` if it is not empty; stderr is the file `log`. If this process
/// gets a signal, the child gets SIGTERM and the call waits for its end. Errors: open_failed.
Result<ChildRun> run_child(const std::vector<std::string>& words, const std::string& out,
                           const std::string& log);

/// A new folder, removed with everything in it: by the destructor, or when a second signal ends the
/// process.
class TemporaryFolder {
 public:
  /// In `parent`; if that is empty, in $TMPDIR or /tmp. Ends the command with exit 4 on failure.
  explicit TemporaryFolder(const std::string& parent);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  /// Removes a file or folder in it and makes an empty folder of that name if asked for.
  void clear(const std::string& name, bool make_folder = false) const;

 private:
  std::string folder_;
};

}  // namespace zerorun::app::bench
