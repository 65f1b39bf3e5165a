// What a run of frames tells: progress, the file of --stats, and the summary.
// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/common/figures.hpp"
#include "apps/common/input_output.hpp"
#include "apps/common/options.hpp"
#include "apps/common/process.hpp"
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
  Progress(const ReportOptions& options, std::int64_t total, io::Rational rate)
      : mode_(resolve(options)),
        total_(total),
        rate_(rate.known() ? rate.value() : 25.0),
        interval_seconds_(is_json() || console::stderr_is_terminal() ? 0.1 : 1.0) {}

  void update(const ProgressCounts& counts) {
    if (mode_ == ProgressMode::none) return;
    const double now = since_start_.seconds();
    if (now - last_shown_ < interval_seconds_) return;
    last_shown_ = now;
    if (is_json())
      console::machine(json_text(event(counts)));
    else
      console::progress(line(event(counts)));
  }
  /// The last event: "done" or "interrupted". That of "failed" is kept for print_failed_event().
  void finish(const ProgressCounts& counts, const std::string& outcome,
              const nlohmann::json& summary) {
    if (mode_ == ProgressMode::plain) {
      console::clear_progress();
    } else if (mode_ == ProgressMode::json) {
      nlohmann::json last = event(counts);
      last["progress"] = "end";
      last["outcome"] = outcome;
      if (!summary.is_null()) last["summary"] = summary;
      if (outcome == "failed")
        failed_event_ = last;  // its sentence is not known here
      else
        console::machine(json_text(last));
    }
  }
  bool is_json() const noexcept { return mode_ == ProgressMode::json; }
  double seconds() const noexcept { return since_start_.seconds(); }

  /// The last event of a run that failed, with the sentence that people got, if the command line
  /// has `--progress json`: a wrong command line, too, ends with a JSON line.
  static void print_failed_event(int argc, const char* const* argv, Exit code,
                                 const std::string& sentence) {
    bool is_wanted = false;
    for (int i = 1; i < argc; ++i) {
      const std::string_view word = argv[i], next = i + 1 < argc ? argv[i + 1] : "";
      is_wanted |= word == "--progress=json" || (word == "--progress" && next == "json");
    }
    if (!is_wanted) return;
    nlohmann::json event = failed_event_;
    if (event.is_null()) event = {{"progress", "end"}, {"outcome", "failed"}};
    event["exit_code"] = static_cast<int>(code);
    event["error"] = sentence;
    console::machine(json_text(event));
  }

 private:
  static ProgressMode resolve(const ReportOptions& options) {
    if (options.progress != ProgressMode::automatic) return options.progress;
    const bool is_seen = console::stderr_is_terminal() && !console::is_quiet();
    return is_seen ? ProgressMode::plain : ProgressMode::none;
  }
  std::string line(const nlohmann::json& event) const {
    const auto number = [&event](const char* name) { return event.at(name).get<double>(); };
    const auto frames = event.at("frames").get<std::int64_t>();
    std::string text = total_ > 0
                           ? fmt::format("{:>6}/{} {:5.1f}%", frames, total_, number("percent"))
                           : fmt::format("{:>6} frames", frames);
    text += fmt::format(" | {:.1f} fps {:.2f}x | {:.1f} Mb/s | {:.2f} ms/f", number("fps"),
                        number("speed"), number("mbit_per_s"), number("ms_per_frame"));
    if (event.contains("eta_seconds")) text += " | ETA " + clock_text(number("eta_seconds"));
    return text;
  }
  nlohmann::json event(const ProgressCounts& c) const {
    const double seconds = since_start_.seconds();
    const double fps = ratio(static_cast<double>(c.frames), seconds);
    nlohmann::json event = {{"progress", "continue"},
                            {"frames", c.frames},
                            {"total", total_ > 0 ? nlohmann::json(total_) : nlohmann::json()},
                            {"seconds", seconds},
                            {"fps", fps},
                            {"speed", fps / rate_},
                            {"bytes", c.coded_bytes},
                            {"mbit_per_s", ratio(static_cast<double>(c.coded_bytes) * 8e-6,
                                                 static_cast<double>(c.frames) / rate_)},
                            {"ms_per_frame", c.mean_ms}};
    if (total_ > 0) {
      event["percent"] = 100.0 * static_cast<double>(c.frames) / static_cast<double>(total_);
      if (fps > 0) event["eta_seconds"] = static_cast<double>(total_ - c.frames) / fps;
    }
    return event;
  }

  /// Where a run of frames had come when it failed; null if it had not begun.
  static inline nlohmann::json failed_event_;

  const ProgressMode mode_;
  const std::int64_t total_;
  const double rate_, interval_seconds_;
  double last_shown_ = -1.0;
  Stopwatch since_start_;
};

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
  StatsFile(const std::string& path, bool overwrite, std::string command, bool with_psnr)
      : is_json_(path.ends_with(".json")), with_psnr_(with_psnr), command_(std::move(command)) {
    if (!is_json_ && !path.ends_with(".csv"))
      fail(Exit::usage, path + ": the name of a stats file ends in .json or .csv");
    file_.emplace(path, overwrite);
    if (!is_json_) facts_.emplace(path + ".json", overwrite);
  }

  /// Call it before the first add().
  void begin(const nlohmann::ordered_json& header) {
    nlohmann::ordered_json head = {{"format", "zerorun-stats"},
                                   {"version", kVersion},
                                   {"command", command_},
                                   {"zerorun", version()}};
    head.update(header);
    if (is_json_) {
      std::string text = json_text(head, 2);
      text.erase(text.rfind('\n'));  // without the closing brace: the frames follow
      file_->write(text + ",\n  \"frames\": [");
      return;
    }
    head_ = std::move(head);
    file_->write("index,pts,bytes,");
    file_->write(command_ + "_us");
    if (with_psnr_) file_->write(",psnr,psnr_0,psnr_1,psnr_2");
    if (command_ == "decode") file_->write(",concealed_intervals,cpu_scans");
    if (command_ == "encode") file_->write(",gpu_us,quality,thrift,codings,reached");
    file_->write("\n");
  }
  void add(const FrameRecord& record) {
    is_json_ ? add_json(record) : add_csv(record);
    first_ = false;
  }
  void finish(const nlohmann::json& summary) {
    if (is_json_) {
      file_->write("\n  ],\n  \"summary\": " + json_text(summary) + "\n}\n");
    } else {
      head_["summary"] = summary;
      facts_->write(json_text(head_, 2) + "\n");
      facts_->finish();
    }
    file_->finish();
  }

 private:
  /// Increase it when a column is removed or changes its meaning; add new columns at the end.
  static constexpr int kVersion = 2;

  void add_json(const FrameRecord& record) {
    // To three decimals: a nanosecond.
    const auto rounded = [](double value) { return std::round(value * 1000.0) / 1000.0; };
    nlohmann::ordered_json row = {{"index", record.index},
                                  {"pts", record.pts},
                                  {"bytes", record.bytes},
                                  {command_ + "_us", rounded(record.microseconds)}};
    if (record.error) add_psnr(row, *record.error);
    if (record.concealed_intervals) row["concealed_intervals"] = *record.concealed_intervals;
    if (record.gpu_microseconds) row["gpu_us"] = rounded(*record.gpu_microseconds);
    if (record.cpu_scans) row["cpu_scans"] = *record.cpu_scans;
    if (const auto& coding = record.coding) {
      row["quality"] = coding->quality ? nlohmann::json(*coding->quality) : nlohmann::json();
      row["thrift"] = coding->thrift;
      row["codings"] = coding->codings;
      if (coding->reached)  // JSON has no infinity
        row["reached"] =
            std::isinf(*coding->reached) ? nlohmann::json() : nlohmann::json(*coding->reached);
    }
    file_->write(fmt::format("{}\n    {}", first_ ? "" : ",", json_text(row)));
  }
  void add_csv(const FrameRecord& record) {
    std::string row =
        fmt::format("{},{},{},{:.3f}", record.index, record.pts, record.bytes, record.microseconds);
    if (with_psnr_ && record.error) {
      row += psnr_csv(record.error->psnr());
      for (int c = 0; c < 3; ++c)
        row += c < record.error->components ? psnr_csv(record.error->psnr(c)) : ",";
    }
    if (record.concealed_intervals) row += fmt::format(",{}", *record.concealed_intervals);
    if (record.gpu_microseconds) row += fmt::format(",{:.3f}", *record.gpu_microseconds);
    if (record.cpu_scans) row += fmt::format(",{}", *record.cpu_scans);
    if (const auto& coding = record.coding)
      row += fmt::format(",{},{},{},{}", coding->quality ? fmt::format("{}", *coding->quality) : "",
                         coding->thrift, coding->codings,
                         coding->reached ? fmt::format("{}", *coding->reached) : "");
    file_->write(row + "\n");
  }
  /// Begins with a comma.
  static std::string psnr_csv(double decibels) {
    return std::isinf(decibels) ? ",inf" : fmt::format(",{:.3f}", decibels);
  }

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
  double stream_seconds() const noexcept {
    return static_cast<double>(frames) / (rate.known() ? rate.value() : 25.0);
  }
  double fps() const noexcept { return ratio(static_cast<double>(frames), seconds); }
  double bits_per_pixel() const noexcept {
    return ratio(8.0 * static_cast<double>(coded_bytes), static_cast<double>(pixels));
  }
  std::string text() const {
    std::string text = fmt::format("{}: {} frame{}, {}x{}, {:.2f} s\n", output, frames,
                                   frames == 1 ? "" : "s", width, height, stream_seconds());
    if (coded_bytes > 0)
      text += fmt::format(
          "  JPEG     {} bytes, {:.2f} Mb/s, {:.3f} bits per pixel\n", with_commas(coded_bytes),
          ratio(static_cast<double>(coded_bytes) * 8e-6, stream_seconds()), bits_per_pixel());
    text += fmt::format("  output   {} bytes\n", with_commas(output_bytes));
    if (times.count() > 0)
      text += fmt::format("  {}   ms per frame: {}\n", verb, times_text(times));
    text +=
        fmt::format("  all      {:.2f} s with input and output, {:.1f} fps, {:.2f}x real time; {}",
                    seconds, fps(), ratio(stream_seconds(), seconds), device);
    if (!steps.steps.empty())
      text += fmt::format("\n  steps    {} of the time; {:.2f} s to start", steps.text(),
                          start_seconds);
    if (!steps.sentence.empty()) text += "\n  slowest  " + steps.sentence;
    if (cpu_frames > 0)
      text += fmt::format("\n  on CPU   {} damaged or unusual frame{} decoded by the CPU",
                          cpu_frames, cpu_frames == 1 ? "" : "s");
    if (error)
      text +=
          fmt::format("\n  PSNR     {:.3f} dB ({})", error->psnr(), psnr_components_text(*error));
    return text;
  }
  nlohmann::json json() const {
    nlohmann::json summary = {{"output", output},
                              {"device", device},
                              {"frames", frames},
                              {"width", width},
                              {"height", height},
                              {"stream_seconds", stream_seconds()},
                              {"bytes", coded_bytes},
                              {"output_bytes", output_bytes},
                              {"bits_per_pixel", bits_per_pixel()},
                              {"start_seconds", start_seconds},
                              {"seconds", seconds},
                              {"steps", steps.json()},
                              {"fps", fps()},
                              {verb + "_ms", times_json(times)}};
    add_lost_devices(summary, lost_devices);
    if (verb == "decode") {
      summary["concealed_frames"] = concealed_frames;
      summary["cpu_frames"] = cpu_frames;
    }
    if (error) add_psnr(summary, *error);
    return summary;
  }
};

}  // namespace zerorun::app
