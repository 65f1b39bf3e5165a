// How readers, sources and sinks are opened: start() can fail, libraries throw, and the system has
// errors.
// SPDX-License-Identifier: MIT
#pragma once

#include <exception>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "codec/base/try.hpp"
#include "zerorun/status.hpp"

namespace zerorun::io {

/// Calls start() of a new reader, source or sink, and returns it as its base class.
template <typename Base, typename Made>
Result<std::unique_ptr<Base>> started(std::unique_ptr<Made> made) {
  ZR_TRY(made->start());
  return std::unique_ptr<Base>(std::move(made));
}

/// guarded() that also catches what std::filesystem and the containers throw.
template <typename Open>
auto guarded_open(const Open& open) -> decltype(open()) {
  try {
    return guarded(open);
  } catch (const std::exception& error) {
    return Status(Errc::open_failed, error.what());
  }
}

/// "'NAME': REASON", for example "'a.png': No space left on device". Thread-safe, unlike
/// strerror().
inline Status system_failure(Errc code, const std::string& name, int error_number) {
  return Status(code, "'" + name + "': " + std::generic_category().message(error_number));
}

}  // namespace zerorun::io
