// SIGINT, SIGTERM and SIGHUP: the first ends the work properly, the second at once.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace zerorun::app::signals {

/// Blocks the signals in this and all later threads and starts the thread that waits for them.
/// Call it first in main(). SIGPIPE is ignored: a closed pipe is a write error (exit code 4).
/// A signal that the parent had ignored (nohup, background jobs of sh) stays ignored.
void install();

/// The number of the first signal, 0 before there was one.
int received() noexcept;

/// True after a second signal: unwind without writing anything more. Who does not within half a
/// second is ended by the signal thread.
bool must_stop_now() noexcept;

/// A thread hangs in a read and was detached: the process has to leave by _Exit.
void set_thread_left_behind() noexcept;
bool is_thread_left_behind() noexcept;

/// While one lives, the first signal only sets received(), so that the caller can write the end
/// of its file; without one it ends the process (nothing is being written).
class Graceful {
 public:
  Graceful();
  ~Graceful();
  Graceful(const Graceful&) = delete;
  Graceful& operator=(const Graceful&) = delete;
};

/// An unfinished file that a second signal removes before it ends the process.
void remove_when_killed(const std::string& part_path);
void forget_removals();

}  // namespace zerorun::app::signals
