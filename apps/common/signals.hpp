// SIGINT, SIGTERM and SIGHUP: the first signal ends the input, the second the process.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

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
