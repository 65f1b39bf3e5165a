// The frames of a command: one thread reads, several code, the caller's thread writes in order.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "apps/common/signals.hpp"
#include "codec/api/flight_ring.hpp"
#include "codec/base/try.hpp"

namespace zerorun::app {

/// How a run ended.
struct PipelineEnd {
  enum class Step { none, read, work, write };
  Status status;             ///< of the first failure in frame order
  Step step = Step::none;    ///< where it happened
  std::string name;          ///< of the frame it happened to
  std::int64_t frames = 0;   ///< written
  bool interrupted = false;  ///< a signal ended the input early; what had been read is written
};

template <typename Job>
struct PipelineSteps {
  /// Runs on a thread of its own and may outlive the pipeline when it hangs in a pipe: it must own
  /// what it uses. False at the end.
  std::function<Result<bool>(Job&)> read;
  std::function<Status(Job&, int lane)> work;
  /// Runs on the caller's thread, in order.
  std::function<Status(Job&)> write;
};

/// Job holds one frame and everything about it, with a std::string `name` for messages; jobs are
/// reused with their memory, lanes + 2 of them.
/// A failure at frame k is reported after the frames before it were written.
template <typename Job>
PipelineEnd run_pipeline(int lanes, const PipelineSteps<Job>& steps) {
  using Step = PipelineEnd::Step;
  struct Entry {
    Job job;
    Status status;
    Step failed = Step::none;

    void set(Step step, Status result) {
      failed = result ? Step::none : step;
      status = std::move(result);
    }
  };
  const auto work = [&steps](Entry& entry, int lane) {
    entry.set(Step::work, guarded([&] { return steps.work(entry.job, lane); }));
    return true;
  };
  const auto read = [read = steps.read](Entry& entry, int) {
    const Result<bool> more = guarded([&] { return read(entry.job); });
    entry.set(Step::read, more.status());
    if (!more) return JobRead::last;
    return *more ? JobRead::queued : JobRead::none;
  };
  FlightRing<Entry> ring(
      lanes + 1, {.work = work, .read = read, .left_behind = signals::set_thread_left_behind});
  ring.start(lanes);
  PipelineEnd end;
  Entry entry;
  for (;;) {
    // The wait is short because signals are seen here and nowhere else.
    ring.wait_ready(std::chrono::milliseconds(20));
    if (signals::received() != 0 && ring.finish()) end.interrupted = true;
    if (signals::must_stop_now()) return end;
    const Received got = ring.receive(false, [&entry](Entry& next) { std::swap(entry, next); });
    if (got == Received::not_yet) continue;
    if (got == Received::end) return end;
    if (entry.failed == Step::none)
      entry.set(Step::write, guarded([&] { return steps.write(entry.job); }));
    if (entry.failed != Step::none) {
      end.status = entry.status;
      end.step = entry.failed;
      end.name = entry.job.name;
      return end;
    }
    ++end.frames;
  }
}

}  // namespace zerorun::app
