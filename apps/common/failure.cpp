// Library errors -> exit codes.
// SPDX-License-Identifier: MIT
#include "apps/common/failure.hpp"

namespace zerorun::app {

Exit exit_for(const Status& status, Exit side) noexcept {
  switch (status.code()) {
    case Errc::ok:
      return Exit::done;
    case Errc::no_device:
    case Errc::device_unsuitable:
    case Errc::cuda_not_built:
      return Exit::device;
    case Errc::out_of_memory:
    case Errc::device_failure:
      return Exit::failed;
    case Errc::verify_mismatch:
      return Exit::mismatch;
    default:
      return side;
  }
}

void fail(Exit code, std::string sentence) { throw Failure(code, std::move(sentence)); }

/// The library quotes the path it means; where that is the name in front, once is enough.
static std::string without_name(std::string message, const std::string& name) {
  for (const std::string& quoted : {"'" + name + "': ", ": '" + name + "'"})
    if (const auto at = message.find(quoted); at != std::string::npos)
      message.erase(at, quoted.size());
  return message;
}

void fail(Exit side, const std::string& name, const Status& status, const char* hint) {
  const std::string message = status.message();
  fail(exit_for(status, side),
       (name.empty() ? message : name + ": " + without_name(message, name)) + hint);
}

}  // namespace zerorun::app
