// The operating system's reason in words.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <system_error>

namespace zerorun::io {

/// For example "No space left on device". Thread-safe, unlike strerror().
inline std::string system_reason(int error_number) {
  return std::generic_category().message(error_number);
}

}  // namespace zerorun::io
