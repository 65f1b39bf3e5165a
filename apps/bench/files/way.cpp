// Runs one way from file to file, and reads what the program says about it.
// SPDX-License-Identifier: MIT
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <system_error>

#include "apps/bench/files/files.hpp"
#include "apps/bench/measure/statistics.hpp"
#include "apps/common/failure.hpp"
#include "apps/common/signals.hpp"

namespace zerorun::app::bench {
namespace {

namespace fs = std::filesystem;

/// The last line that is not empty and begins with `start`.
std::string last_line(const std::string& path, const std::string& start) {
  std::ifstream file(path);
  std::string last;
  for (std::string line; std::getline(file, line);)
    if (!line.empty() && line.starts_with(start)) last = line;
  return last;
}

std::int64_t bytes_of(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    const auto size = fs::file_size(path, error);
    return error ? 0 : static_cast<std::int64_t>(size);
  }
  std::int64_t bytes = 0;
  for (const auto& entry : fs::directory_iterator(path, error))
    bytes += static_cast<std::int64_t>(entry.file_size(error));
  return bytes;
}

/// The summary that `--progress json` ends with; an empty object if there is none.
nlohmann::json summary_in(const std::string& line) {
  const auto end = nlohmann::json::parse(line, nullptr, false);
  if (!end.is_object() || !end.contains("summary")) return nlohmann::json::object();
  return end.at("summary");
}

/// What the run with the median time said.
void take_summary(const nlohmann::json& summary, WholeWay& whole) {
  if (!summary.contains("steps")) return;
  whole.start_seconds = summary.value("start_seconds", 0.0);
  const nlohmann::json& steps = summary.at("steps");
  whole.wall = steps.value("sentence", "");
  whole.wall_step = steps.value("wall", "");
  for (const auto& step : steps.at("steps"))
    whole.steps.emplace_back(step.at("step").get<std::string>(), step.at("percent").get<double>());
}

struct Sample {
  double seconds, cpu_seconds;
  nlohmann::json summary;
};

Result<Sample> run_once(const FilesSetting& setting, const Way& way) {
  if (!way.output.empty()) setting.folder.clear(way.output, way.makes_folder);
  const std::string log = setting.folder.path("log");
  auto run = run_child(way.words, "", log);
  if (!run) return run.status();
  // The folder is removed on the way out, and main() ends with the code of the signal.
  if (signals::received() != 0) fail_interrupted();
  if (run->exit_code != 0)
    return Status(Errc::bad_input,
                  fmt::format("exit code {}: {}", run->exit_code, last_line(log, "")));
  return Sample{run->seconds, run->cpu_seconds, summary_in(last_line(log, "{"))};
}

}  // namespace

Status run_way(const FilesSetting& setting, const Way& way, Row& row) {
  const auto frames = static_cast<double>(setting.frames);
  std::vector<Sample> samples;
  for (int i = 0; i <= setting.repetitions; ++i) {
    auto sample = run_once(setting, way);
    if (!sample) return sample.status();
    if (i > 0) samples.push_back(*std::move(sample));  // the first one warms up
  }
  if (samples.empty()) return Status::ok();
  for (const Sample& sample : samples) row.microseconds.push_back(sample.seconds * 1e6 / frames);
  std::sort(samples.begin(), samples.end(),
            [](const Sample& a, const Sample& b) { return a.seconds < b.seconds; });
  const Sample& median = samples[(samples.size() - 1) / 2];
  row.frames_per_sample = static_cast<std::size_t>(setting.frames);
  row.whole.emplace();
  row.whole->cpu_seconds = median.cpu_seconds;
  take_summary(median.summary, *row.whole);
  if (!way.output.empty())
    row.stream_bytes = static_cast<double>(bytes_of(setting.folder.path(way.output))) / frames;
  return Status::ok();
}

}  // namespace zerorun::app::bench
