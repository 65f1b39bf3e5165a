// Errors of the operating system as Status.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <system_error>

#include "zerorun/status.hpp"

namespace zerorun::io {

/// "'NAME': REASON", for example "'a.png': No space left on device". Thread-safe, unlike
/// strerror().
inline Status system_failure(Errc code, const std::string& name, int error_number) {
  return Status(code, "'" + name + "': " + std::generic_category().message(error_number));
}

}  // namespace zerorun::io
