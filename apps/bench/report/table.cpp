// The table on the terminal. Times are microseconds a frame.
// SPDX-License-Identifier: MIT
#include <fmt/core.h>

#include <algorithm>
#include <tuple>

#include "apps/bench/report/report.hpp"
#include "apps/bench/measure/statistics.hpp"
#include "apps/common/text.hpp"

namespace zerorun::app::bench {
namespace {

std::string heading() {
  return fmt::format("{:<46} {:>9} {:>9} {:>9} {:>9} {:>9} {:>8} {:>9} {:>8} {:>10} {:>6}\n",
                     "coder/device/path/mode/at once, us a frame", "min", "median", "p95", "p99",
                     "max", "jitter", "frames/s", "GB/s", "bytes", "dB");
}

std::string line(const Row& row) {
  const Summary s = summarise(row.microseconds);
  const double bytes = row.stream_bytes > 0 ? row.stream_bytes : row.input_bytes;
  return fmt::format(
      "{:<46} {:>9.1f} {:>9.1f} {:>9.1f} {:>9.1f} {:>9.1f} {:>8.1f} {:>9.0f} {:>8.2f} {:>10} "
      "{:>6}\n",
      row.id(), s.min, s.median, s.p95, s.p99, s.max, s.jitter, 1e6 / s.median,
      row.input_bytes / s.median / 1e3, with_commas(static_cast<std::int64_t>(bytes)),
      row.psnr > 0 ? fmt::format("{:.2f}", row.psnr) : "");
}

std::string stage_lines(const Row& row) {
  double sum = 0;
  for (const StageTime& stage : row.stages) sum += stage.microseconds;
  std::string text = row.id() + ":\n";
  for (const StageTime& stage : row.stages)
    text += fmt::format("  {:<20} {:>9.1f} us {:>5.1f} %\n", stage.stage, stage.microseconds,
                        100 * stage.microseconds / sum);
  return text;
}

/// The fastest row of each group that differs in `at_once` alone.
std::vector<const Row*> best_rows(const CaseResult& result) {
  std::vector<const Row*> best;
  for (const Row& row : result.rows) {
    const auto same = std::find_if(best.begin(), best.end(), [&](const Row* other) {
      return std::tie(other->coder, other->device, other->path, other->mode) ==
             std::tie(row.coder, row.device, row.path, row.mode);
    });
    if (same == best.end()) {
      best.push_back(&row);
    } else if (summarise(row.microseconds).median < summarise((*same)->microseconds).median) {
      *same = &row;
    }
  }
  return best;
}

/// "encode street.jpg: 3840x2160 yuv420p, ..."
std::string title(const Case& what) {
  const std::string size = what.mixed ? fmt::format("{:.2f} to {:.2f} megapixels",
                                                    what.least_megapixels, what.most_megapixels)
                                      : fmt::format("{}x{}", what.width, what.height);
  std::string text =
      fmt::format("{} {}: {} {}, {} {}{}", name(what.operation), what.input, size,
                  what.mixed && what.planar ? "planar" : zerorun::name(what.pixels), what.frames,
                  what.mixed ? "image" : "frame", what.frames == 1 ? "" : "s");
  if (what.streams == Streams::input)
    return text + (what.mixed ? ", the input's own streams"
                              : fmt::format(", the input's own streams, sampling {}, restart {}{}",
                                            zerorun::name(what.sampling), what.restart,
                                            what.index ? ", scan index" : ""));
  text += fmt::format(", quality {}, sampling {}, {} tables, restart {}", what.quality,
                      zerorun::name(what.sampling), name(what.huffman), what.restart);
  if (what.tune != Tune::exact)
    text += fmt::format(", tune {} {}", zerorun::name(what.tune), zerorun::name(what.effort));
  if (what.index) text += ", scan index";
  if (what.streams == Streams::libjpeg) text += ", streams of libjpeg-turbo";
  return text;
}

}  // namespace

std::string title_text(const Case& what) { return title(what); }

std::string table_text(const CaseResult& result, bool every_row) {
  std::string text = title(result.what) + "\n" + heading();
  std::vector<const Row*> rows;
  for (const Row& row : result.rows) rows.push_back(&row);
  if (!every_row) rows = best_rows(result);
  for (const Row* row : rows) text += line(*row);
  for (const Row* row : rows)
    if (!row->stages.empty()) text += stage_lines(*row);
  for (const std::string& note : result.notes) text += "left out: " + note + "\n";
  return text;
}

std::string primitives_text(const std::vector<PrimitiveRow>& rows) {
  std::string text = fmt::format("{:<18} {:<12} {:<34} {:>11} {:>11} {:>10} {:>9}\n", "primitive",
                                 "form", "data", "input MB", "us", "input GB/s", "of copy");
  double copy = 0;  // bytes a microsecond, read and written
  for (const PrimitiveRow& row : rows) {
    const double median = summarise(row.microseconds).median;
    if (row.primitive == "copy") copy = row.traffic_bytes / median;
    text += fmt::format("{:<18} {:<12} {:<34} {:>11.3f} {:>11.1f} {:>10.1f} {:>8.1f}%\n",
                        row.primitive, row.form, row.data, row.input_bytes / 1e6, median,
                        row.input_bytes / median / 1e3, 100 * row.traffic_bytes / median / copy);
  }
  return text;
}

std::string machine_text(const Facts& facts) {
  std::string text;
  for (const auto& [key, value] : facts) text += fmt::format("{}: {}\n", key, value);
  return text;
}

}  // namespace zerorun::app::bench
