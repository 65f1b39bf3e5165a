// The frames of a command: one thread reads, several load, code and pack, the caller's thread
// writes in order.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "apps/common/process.hpp"
#include "apps/common/step_meter.hpp"
#include "codec/base/flight_ring.hpp"
#include "codec/base/try.hpp"

namespace zerorun::app {

/// How a run ended.
struct PipelineEnd {
  enum class Step { none, read, code, write };
  Status status;             ///< of the first failure in frame order
  Step step = Step::none;    ///< where it happened; loading counts as read, packing as write
  std::string name;          ///< of the frame it happened to
  std::int64_t frames = 0;   ///< written
  bool interrupted = false;  ///< a signal ended the input early; what had been read is written
};

template <typename Job>
struct PipelineSteps {
  /// The serial half of reading: says which frame comes next; false at the end. Runs on a thread of
  /// its own and may outlive the pipeline when it hangs in a pipe: it must own what it uses.
  std::function<Result<bool>(Job&)> read;
  /// Run on a lane, one after the other. Lanes work on several frames at a time.
  std::function<Status(Job&, int lane)> load;  ///< brings the frame into memory
  /// Encodes or decodes it.
  std::function<Status(Job&, int lane)> code = [](Job&, int) { return Status::ok(); };
  /// The parallel half of writing.
  std::function<Status(Job&)> pack = [](Job&) { return Status::ok(); };
  /// The serial half of writing. Runs on the caller's thread, in order.
  std::function<Status(Job&)> write;
  /// Lanes take no more frames, perhaps leaving out some that were read: steps must not wait for
  /// them any longer. May be empty; called once, from the caller's thread.
  std::function<void()> over = {};
  /// Takes the time of the steps; null: nothing does. Shared with the reader.
  std::shared_ptr<StepMeter> meter = nullptr;
  Step loading = Step::load, packing = Step::store;  ///< what `load` and `pack` are to the meter
};

/// Job holds one frame and everything about it: name() for messages, and `out`, an io::Outgoing,
/// whose index is set here. Jobs are reused with their memory, lanes + 2 of them.
/// A failure at frame k is reported after the frames before it were written.
template <typename Job>
PipelineEnd run_pipeline(int lanes, const PipelineSteps<Job>& steps) {
  using Where = PipelineEnd::Step;
  struct Entry {
    Job job;
    Status status;
    Where failed = Where::none;

    bool passes(Where step, Status result) {
      failed = result ? Where::none : step;
      status = std::move(result);
      return failed == Where::none;
    }
  };
  // Shared with the reader, which must not begin another frame when all is over.
  const auto is_over = std::make_shared<std::atomic<bool>>(false);
  const auto work = [&steps, is_over](Entry& entry, int lane) {
    if (*is_over) return false;
    Job& job = entry.job;
    StepClock clock(steps.meter.get());
    clock.begin(steps.loading);
    if (!entry.passes(Where::read, guarded([&] { return steps.load(job, lane); }))) return true;
    clock.begin(Step::code);
    if (!entry.passes(Where::code, guarded([&] { return steps.code(job, lane); }))) return true;
    clock.begin(steps.packing);
    entry.passes(Where::write, guarded([&] { return steps.pack(job); }));
    return true;
  };
  const auto read = [read = steps.read, meter = steps.meter, is_over, index = std::int64_t{0}](
                        Entry& entry, int) mutable {
    if (*is_over) return JobRead::none;
    StepClock clock(meter.get());
    clock.begin(Step::read);
    const Result<bool> more = guarded([&] { return read(entry.job); });
    entry.job.out.index = index++;
    entry.passes(Where::read, more.status());
    if (!more) return JobRead::last;
    return *more ? JobRead::queued : JobRead::none;
  };
  FlightRing<Entry> ring(lanes + 1, {.work = work,
                                     .read = read,
                                     .drop = [](Entry& entry) { entry.job.out.held.reset(); },
                                     .left_behind = signals::set_thread_left_behind});
  // Removes the files of frames after a failed one. The end of the ring would not: a reader that
  // hangs keeps its jobs alive.
  const struct Drop {
    FlightRing<Entry>& ring;
    std::atomic<bool>& is_over;
    const std::function<void()>& over;
    ~Drop() {
      is_over = true;
      if (over) over();
      ring.discard(true);
    }
  } drop{ring, *is_over, steps.over};
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
    if (entry.failed == Where::none) {
      StepClock clock(steps.meter.get());
      clock.begin(Step::write);
      entry.passes(Where::write, guarded([&] { return steps.write(entry.job); }));
    }
    if (entry.failed != Where::none) {
      end.status = entry.status;
      end.step = entry.failed;
      end.name = entry.job.name();
      return end;
    }
    ++end.frames;
  }
}

}  // namespace zerorun::app
