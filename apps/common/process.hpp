// What the process says on stderr, the signals that end it, its exit codes and the exception that
// carries one to main().
// SPDX-License-Identifier: MIT
#pragma once

#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include "zerorun/status.hpp"

/// Messages and the progress line.
namespace zerorun::app::console {

/// --quiet and --verbose; errors are always shown.
void be_quiet() noexcept;
void be_verbose() noexcept;
bool is_quiet() noexcept;

bool stderr_is_terminal() noexcept;

/// From here on stderr has the program's own lines alone, unless -v was given: libpng, libtiff and
/// libjpeg print theirs in any case. Call it before threads start.
void hide_lines_of_libraries();

void error(std::string_view sentence);   ///< "zerorun: sentence"
void no_memory() noexcept;               ///< that memory ran out; for signal handlers, too
void note(std::string_view sentence);    ///< the same, but not with --quiet
void detail(std::string_view sentence);  ///< the same, but only with --verbose
void plain(std::string_view text);       ///< without "zerorun: ", not with --quiet

/// Shows `line` instead of the last progress line, or below it if stderr is not a terminal.
/// clear_progress() removes it.
void progress(std::string_view line);
void clear_progress();

/// A line of machine-readable progress; also with --quiet, because it was asked for.
void machine(std::string_view json);

}  // namespace zerorun::app::console

/// SIGINT, SIGTERM and SIGHUP: the first signal ends the input, the second the process.
namespace zerorun::app::signals {

/// Blocks the signals in this and all later threads and starts the thread that waits for them.
/// Call it first in main(). SIGPIPE is ignored: a closed pipe is a write error (exit code 4).
/// A signal that the parent ignored (nohup, background jobs of sh) stays ignored.
void install();

/// From here on a signal ends the process with this code instead of 128 + its number.
void set_exit_code(int code) noexcept;
/// All that the process had to do is done: a signal that came too late changes nothing.
void set_all_done() noexcept;
/// What a signal ends the process with.
int exit_code() noexcept;

/// The number of the first signal; 0 if there was none.
int received() noexcept;

/// True after a second signal: unwind without writing anything more. After half a second the signal
/// thread ends the process.
bool must_stop_now() noexcept;

/// A thread hangs in a read and was detached, so the process must end with _Exit.
void set_thread_left_behind() noexcept;
bool is_thread_left_behind() noexcept;

/// While one exists, the first signal only sets received(), so that the caller can write the end
/// of its file; otherwise it ends the process.
class Graceful {
 public:
  /// `doing` is what the note of a signal says.
  explicit Graceful(const char* doing = "writing the end of the file");
  ~Graceful();
  Graceful(const Graceful&) = delete;
  Graceful& operator=(const Graceful&) = delete;
};

/// Makes a second signal remove this unfinished file, or this temporary folder and all that is in
/// it, before it ends the process.
void remove_when_killed(const std::string& path);
void forget_removals();

}  // namespace zerorun::app::signals

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
