// The names in a folder.
// SPDX-License-Identifier: MIT
#pragma once

#include <dirent.h>

#include <cerrno>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace zerorun {

/// Without "." and "..", in no order. libstdc++'s directory_iterator::increment(std::error_code&)
/// is no replacement: it ends the program when memory runs out, because it is noexcept and
/// allocates.
inline std::vector<std::string> folder_names(const std::string& folder, std::error_code& error) {
  struct Close {
    void operator()(DIR* open) const noexcept { ::closedir(open); }
  };
  std::vector<std::string> names;
  const std::unique_ptr<DIR, Close> open(::opendir(folder.c_str()));
  errno = open ? 0 : errno;
  while (open) {
    const dirent* const entry = ::readdir(open.get());
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
    errno = 0;  // readdir() sets it at an error only
  }
  error = std::error_code(errno, std::generic_category());
  return names;
}

}  // namespace zerorun
