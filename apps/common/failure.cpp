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

void fail(Exit side, const std::string& name, const Status& status) {
  fail(exit_for(status, side), name.empty() ? status.message() : name + ": " + status.message());
}

}  // namespace zerorun::app
