// What a run of frames tells: progress, the file of --stats, and the summary.
// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/common/figures.hpp"
#include "apps/common/input_output.hpp"
#include "apps/common/options.hpp"
#include "apps/common/step_meter.hpp"
#include "zerorun/backend.hpp"
#include "zerorun/content.hpp"

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
  std::string line(const nlohmann::json& event) const;
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

/// Increase it when a column is removed or changes its meaning; add new columns at the end.
inline constexpr int kStatsVersion = 2;

/// What a frame was coded with.
struct FrameCoding {
  std::optional<double> quality;  ///< nothing with own tables
  int thrift, codings;
  std::optional<double> reached;  ///< the PSNR or SSIM that was asked for, as it came out
};

struct FrameRecord {
  std::int64_t index = 0;
  std::int64_t pts = 0;                                  ///< in the time base of the header
  std::size_t bytes = 0;                                 ///< of the JPEG stream
  double microseconds = 0.0;                             ///< coding it
  std::optional<SquaredError> error = {};                ///< encode --psnr
  std::optional<std::int64_t> concealed_intervals = {};  ///< decode
  std::optional<double> gpu_microseconds = {};           ///< encode: of the kernels; 0 on the CPU
  std::optional<int> cpu_scans = {};                     ///< decode, as in DecodeReport
  std::optional<FrameCoding> coding = {};                ///< encode
};

/// A JSON file is one object: the header's members, "frames" and "summary". A CSV file has the
/// table alone, with a line of column names, as tools for tables read it; the other members lie in
/// NAME.csv.json.
class StatsFile {
 public:
  /// Ends the command if the name is neither .json nor .csv (exit 2) or cannot be written (exit 4).
  StatsFile(const std::string& path, bool overwrite, std::string command, bool with_psnr);

  void begin(nlohmann::ordered_json header);  ///< before the first add()
  void add(const FrameRecord& record);
  void finish(const nlohmann::json& summary);

 private:
  void add_json(const FrameRecord& record);
  void add_csv(const FrameRecord& record);

  const bool is_json_, with_psnr_;
  const std::string command_;
  std::optional<SafeFile> file_, facts_;  // NAME.csv.json
  nlohmann::ordered_json head_;           // of a CSV file, until its end
  bool first_ = true;
};

struct RunSummary {
  std::string verb;  ///< "encode" or "decode"
  std::string output;
  std::string device;
  io::Rational rate;  ///< of the stream; unknown counts as 25
  int width = 0, height = 0;
  std::int64_t frames = 0;
  std::int64_t pixels = 0;
  std::int64_t coded_bytes = 0;   ///< of the JPEG streams
  std::int64_t output_bytes = 0;  ///< of the output
  std::int64_t concealed_frames = 0;
  std::int64_t cpu_frames = 0;  ///< with scans that the CPU decoded beside a GPU
  double start_seconds = 0.0;   ///< before the first frame was coded: opening, starting the device
  double seconds = 0.0;         ///< from then on
  FrameTimes times;             ///< coding alone, without input and output
  std::optional<SquaredError> error;
  StepReport steps;
  std::vector<LostDevice> lost_devices;  ///< that failed while others went on

  ProgressCounts counts() const { return {frames, coded_bytes, times.mean_ms()}; }
  double stream_seconds() const noexcept;
  std::string text() const;
  nlohmann::json json() const;
};

}  // namespace zerorun::app
