// `zerorun play --no-window`: decodes as fast as possible and reports.
// SPDX-License-Identifier: MIT

#include <fmt/core.h>

#include <utility>

#include "apps/common/console.hpp"
#include "apps/common/pixel_limit.hpp"
#include "apps/common/signals.hpp"
#include "apps/play/compare.hpp"
#include "apps/play/session.hpp"
#include "codec/base/luma_ssim.hpp"

namespace zerorun::app {
namespace {

constexpr double kSignalSeconds = 0.05;  // interval of looking for signals

/// The next frame in order; null at the end and after a signal.
std::unique_ptr<PlayFrame> next(DecodeAhead& frames) {
  while (frames.peek() == nullptr) {
    if (frames.is_over() || signals::received() != 0) return nullptr;
    frames.wait(kSignalSeconds);
  }
  return frames.take();
}

/// A failure of the device or of memory ends the command: it is not the fault of the input.
void check_device(const PlayFrame& frame) {
  const ErrorGroup kind = group(frame.problem.code());
  if (kind == ErrorGroup::device || frame.problem.code() == Errc::out_of_memory)
    fail(Exit::failed, frame.name, frame.problem);
}

/// Prints what is wrong with a broken frame; `first` keeps the first problem.
void note_problem(const PlayFrame& frame, Status& first) {
  check_device(frame);
  if (frame.problem) return;
  if (first) first = frame.problem;
  console::detail(
      fmt::format("{}: frame {}: {}", frame.name, frame.index, frame.problem.message()));
}

void compare(const PlayFrame& a, const PlayFrame& b, PlayReport& report) {
  if (!a.problem || !b.problem) return;
  const auto error = compare_error(a.frame.view(), b.frame.view());
  if (!error) fail(Exit::input, fmt::format("frame {}: the two inputs differ in size", a.index));
  report.add_error(*error, a.frame.format());
  report.add_ssim(luma_ssim(a.frame.view(), b.frame.view()));
}

}  // namespace

Exit play_headless(const PlayOptions& options, PlaySession& session) {
  const signals::Graceful graceful;
  session.start(nullptr);
  PlayReport report;
  report.times.emplace();
  const Stopwatch watch;
  Status first_problem, other_problem;
  while (auto frame = next(*session.frames)) {
    note_problem(*frame, first_problem);
    if (frame->problem && session.input->has_packets()) report.times->add(frame->decode_ms * 1e3);
    if (session.other) {
      auto other = next(*session.other_frames);
      if (!other) break;
      note_problem(*other, other_problem);
      compare(*frame, *other, report);
      session.other_frames->recycle(std::move(other));
    }
    session.frames->recycle(std::move(frame));
  }
  report.seconds = watch.seconds();
  if (signals::must_stop_now()) fail(Exit::failed, "stopped");
  session.describe(report);
  if (const Status problem = session.frames->read_problem(); !problem && problem.code() != Errc::ok)
    console::note(session.input->name() + ": " + problem.message());
  if (report.counts.decoded == 0 && !first_problem)
    fail_input(options.input.name, first_problem, session.input->info().is_jpeg);
  if (report.compared == 0 && !other_problem)
    fail_input(options.other, other_problem, session.other->info().is_jpeg);
  print_report(report, options.json);
  return Exit::done;
}

}  // namespace zerorun::app
