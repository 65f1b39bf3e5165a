// The exit codes of the program and the exception that carries one to main().
// SPDX-License-Identifier: MIT
#pragma once

#include <exception>
#include <string>
#include <utility>

#include "zerorun/status.hpp"

namespace zerorun::app {

/// exit_codes_text() says what they mean. After a signal the code is 128 + its number.
enum class Exit : int {
  done = 0,
  failed = 1,
  usage = 2,
  input = 3,
  output = 4,
  device = 5,
  mismatch = 6,
  resume = 75,  ///< EX_TEMPFAIL
};

/// The exit codes and their meanings, for --help-all and the manual pages.
std::string exit_codes_text();

/// Ends a command. main() catches it and prints it. Thrown on the main thread, or in a job of a
/// ThreadPool that the main thread runs.
class Failure : public std::exception {
 public:
  Failure(Exit code, std::string sentence) : code_(code), sentence_(std::move(sentence)) {}
  Exit code() const noexcept { return code_; }
  const char* what() const noexcept override { return sentence_.c_str(); }

 private:
  Exit code_;
  std::string sentence_;
};

/// The exit code for a library error. `side` is used for errors of the input or output itself.
Exit exit_for(const Status& status, Exit side) noexcept;

[[noreturn]] void fail(Exit code, std::string sentence);

/// A signal ended the command before its work was done.
class Interrupted : public Failure {
 public:
  using Failure::Failure;
};

/// Throws Interrupted with 128 + the number of the signal.
[[noreturn]] void fail_interrupted();

/// "NAME: sentence", with the name once.
std::string sentence_about(const std::string& name, const Status& status);

/// Fails with "NAME: sentence HINT" and exit_for(status, side).
[[noreturn]] void fail(Exit side, const std::string& name, const Status& status,
                       const char* hint = "");

/// Returns the value, or fails.
template <typename T>
T value_or_fail(Result<T> result, Exit side, const std::string& name) {
  if (!result) fail(side, name, result.status());
  return *std::move(result);
}

}  // namespace zerorun::app
