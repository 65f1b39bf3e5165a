// Progress lines.
// SPDX-License-Identifier: MIT
#include "apps/common/progress.hpp"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include <string_view>

#include "apps/common/console.hpp"
#include "apps/common/json_text.hpp"

namespace zerorun::app {
namespace {

/// Where a run of frames had come when it failed; null if it had not begun.
nlohmann::json g_failed_event;

ProgressMode resolve(const ReportOptions& options) {
  if (options.progress != ProgressMode::automatic) return options.progress;
  return console::stderr_is_terminal() && !options.quiet ? ProgressMode::plain : ProgressMode::none;
}

double per_second(std::int64_t count, double seconds) {
  return seconds > 0 ? static_cast<double>(count) / seconds : 0.0;
}

}  // namespace

Progress::Progress(const ReportOptions& options, std::int64_t total, io::Rational rate)
    : mode_(resolve(options)),
      total_(total),
      rate_(rate.known() ? rate.value() : 25.0),
      interval_seconds_(mode_ == ProgressMode::json || console::stderr_is_terminal() ? 0.1 : 1.0) {}

std::string Progress::line(const ProgressCounts& c) const {
  const double fps = per_second(c.frames, since_start_.seconds());
  const double stream_seconds = static_cast<double>(c.frames) / rate_;
  std::string text =
      total_ > 0 ? fmt::format("{:>6}/{} {:5.1f}%", c.frames, total_,
                               100.0 * static_cast<double>(c.frames) / static_cast<double>(total_))
                 : fmt::format("{:>6} frames", c.frames);
  text += fmt::format(" | {:.1f} fps {:.2f}x | {:.1f} Mb/s | {:.2f} ms/f", fps, fps / rate_,
                      per_second(c.coded_bytes, stream_seconds) * 8e-6, c.mean_ms);
  if (total_ > 0 && fps > 0)
    text += " | ETA " + clock_text(static_cast<double>(total_ - c.frames) / fps);
  return text;
}

nlohmann::json Progress::event(const ProgressCounts& c) const {
  const double seconds = since_start_.seconds();
  const double fps = per_second(c.frames, seconds);
  nlohmann::json event = {
      {"progress", "continue"},
      {"frames", c.frames},
      {"total", total_ > 0 ? nlohmann::json(total_) : nlohmann::json()},
      {"seconds", seconds},
      {"fps", fps},
      {"speed", fps / rate_},
      {"bytes", c.coded_bytes},
      {"mbit_per_s", per_second(c.coded_bytes, static_cast<double>(c.frames) / rate_) * 8e-6},
      {"ms_per_frame", c.mean_ms}};
  if (total_ > 0) {
    event["percent"] = 100.0 * static_cast<double>(c.frames) / static_cast<double>(total_);
    if (fps > 0) event["eta_seconds"] = static_cast<double>(total_ - c.frames) / fps;
  }
  return event;
}

void Progress::update(const ProgressCounts& counts) {
  if (mode_ == ProgressMode::none) return;
  const double now = since_start_.seconds();
  if (now - last_shown_ < interval_seconds_) return;
  last_shown_ = now;
  if (mode_ == ProgressMode::json) {
    console::machine(json_text(event(counts)));
  } else {
    console::progress(line(counts));
  }
}

void Progress::finish(const ProgressCounts& counts, const std::string& outcome,
                      const nlohmann::json& summary) {
  if (mode_ == ProgressMode::plain) {
    console::clear_progress();
  } else if (mode_ == ProgressMode::json) {
    nlohmann::json last = event(counts);
    last["progress"] = "end";
    last["outcome"] = outcome;
    if (!summary.is_null()) last["summary"] = summary;
    if (outcome == "failed")
      g_failed_event = last;  // its sentence is not known here
    else
      console::machine(json_text(last));
  }
}

bool asks_for_json(int argc, const char* const* argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--progress=json") return true;
    if (word == "--progress" && i + 1 < argc && std::string_view(argv[i + 1]) == "json")
      return true;
  }
  return false;
}

void print_failed_event(int exit_code, const std::string& sentence) {
  nlohmann::json event = g_failed_event;
  if (event.is_null()) event = {{"progress", "end"}, {"outcome", "failed"}};
  event["exit_code"] = exit_code;
  event["error"] = sentence;
  console::machine(json_text(event));
}

}  // namespace zerorun::app
