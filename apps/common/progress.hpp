// Progress: a line on a terminal, or JSON lines for other programs.
// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>

#include "apps/common/options.hpp"
#include "apps/common/timing.hpp"

namespace zerorun::app {

struct ProgressCounts {
  std::int64_t frames = 0;
  std::int64_t coded_bytes = 0;  ///< of the JPEG streams
  double mean_ms = 0.0;          ///< coding one frame
};

class Progress {
 public:
  /// `total` frames, -1 if unknown. `rate` is the frame rate of the stream; 25 if unknown.
  /// Prints at most ten lines per second on a terminal and as JSON, else one.
  Progress(const ReportOptions& options, std::int64_t total, io::Rational rate);

  void update(const ProgressCounts& counts);
  /// The last event: "done" or "interrupted". That of "failed" is kept for print_failed_event().
  void finish(const ProgressCounts& counts, const std::string& outcome,
              const nlohmann::json& summary);
  bool is_json() const noexcept { return mode_ == ProgressMode::json; }
  double seconds() const noexcept { return since_start_.seconds(); }

 private:
  std::string line(const ProgressCounts& counts) const;
  nlohmann::json event(const ProgressCounts& counts) const;

  ProgressMode mode_;
  std::int64_t total_;
  double rate_;
  double interval_seconds_;
  double last_shown_ = -1.0;
  Stopwatch since_start_;
};

/// True if a command line has `--progress json`: a wrong command line, too, ends with a JSON line.
bool asks_for_json(int argc, const char* const* argv);

/// The last event of a run that failed, with the sentence that people got.
void print_failed_event(int exit_code, const std::string& sentence);

}  // namespace zerorun::app
