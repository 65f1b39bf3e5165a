// A text file that gets its name when it is complete.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace zerorun::app {

/// Writes NAME.part; finish() renames it, and the destructor removes it if it was not finished.
/// Failures end the command with exit code 4.
class SafeFile {
 public:
  SafeFile(std::string path, bool overwrite);
  ~SafeFile();
  SafeFile(const SafeFile&) = delete;
  SafeFile& operator=(const SafeFile&) = delete;

  void write(std::string_view text);
  void finish();

 private:
  [[noreturn]] void fail_now() const;

  std::string path_, part_;
  bool overwrite_;
  std::FILE* file_ = nullptr;
};

}  // namespace zerorun::app
