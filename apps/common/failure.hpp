// The exit codes of the program and the exception that carries one to main().
// SPDX-License-Identifier: MIT
#pragma once

#include <exception>
#include <string>
#include <utility>

#include "zerorun/status.hpp"

namespace zerorun::app {

/// Documented in README.md and in `zerorun --help`. After a signal it is 128 + its number.
enum class Exit : int {
  done = 0,
  failed = 1,    ///< a run-time failure: memory, a CUDA call; bench: a regression
  usage = 2,     ///< bad command line
  input = 3,     ///< input unreadable, corrupt or not supported
  output = 4,    ///< output exists, cannot be written or cannot hold what was asked for
  device = 5,    ///< the device or display that was asked for is not usable
  mismatch = 6,  ///< --verify found other bytes than were coded
};

/// Ends a command. Thrown on the main thread, or by a job of a ThreadPool that the main thread
/// runs, and caught in main(), which prints it once.
class Failure : public std::exception {
 public:
  Failure(Exit code, std::string sentence) : code_(code), sentence_(std::move(sentence)) {}
  Exit code() const noexcept { return code_; }
  const char* what() const noexcept override { return sentence_.c_str(); }

 private:
  Exit code_;
  std::string sentence_;
};

/// The exit code of a library error that happened on the `side` of the program (input, output).
Exit exit_for(const Status& status, Exit side) noexcept;

[[noreturn]] void fail(Exit code, std::string sentence);

/// "NAME: sentence", with the exit code that the status and the side call for. `hint` stands
/// behind.
[[noreturn]] void fail(Exit side, const std::string& name, const Status& status,
                       const char* hint = "");

/// The value, or fail().
template <typename T>
T value_or_fail(Result<T> result, Exit side, const std::string& name) {
  if (!result) fail(side, name, result.status());
  return *std::move(result);
}

}  // namespace zerorun::app
