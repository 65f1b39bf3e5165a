// The table on the terminal, with times as microseconds a frame, and facts about the machine.
// SPDX-License-Identifier: MIT
#include "apps/bench/report/report.hpp"

#include <fmt/chrono.h>
#include <fmt/core.h>
#include <sys/utsname.h>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <fstream>
#include <tuple>

#include "apps/bench/measure/measure.hpp"
#include "apps/common/figures.hpp"
#include "apps/encode/encode_options.hpp"
#include "zerorun/backend.hpp"

namespace zerorun::app::bench {
namespace {

/// The text after "KEY ... :" in a file such as /proc/cpuinfo; empty if there is none.
std::string value_of(const char* path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, key.size(), key) != 0) continue;
    const auto colon = line.find(':');
    const auto begin = line.find_first_not_of(" \t", colon + 1);
    if (colon != std::string::npos && begin != std::string::npos) return line.substr(begin);
  }
  return {};
}

std::string first_line(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

void add_if_known(Facts& facts, const char* key, std::string value) {
  if (!value.empty()) facts.emplace_back(key, std::move(value));
}

/// "24684092 kB" as "23.5 GiB".
std::string memory_text(const std::string& kibibytes) {
  double value = 0;
  const auto [end, error] =
      std::from_chars(kibibytes.data(), kibibytes.data() + kibibytes.size(), value);
  if (error != std::errc()) return {};
  return fmt::format("{:.1f} GiB", value / (1 << 20));
}

TextTable table_of(const std::vector<const Row*>& rows) {
  TextTable table({{"coder/device/path/mode/at once, us a frame", 0, true},
                   {"min", 6},
                   {"median"},
                   {"p95", 1},
                   {"p99", 5},
                   {"max", 7},
                   {"jitter", 8},
                   {"frames/s", 4},
                   {"GB/s", 3},
                   {"bytes", 2},
                   {"dB", 2}});
  for (const Row* row : rows) {
    const Summary s = summarise(row->microseconds);
    const auto us = [](double value) { return fmt::format("{:.1f}", value); };
    const double bytes = row->stream_bytes > 0 ? row->stream_bytes : row->input_bytes;
    table.add({row->id(), us(s.min), us(s.median), us(s.p95), us(s.p99), us(s.max), us(s.jitter),
               fmt::format("{:.0f}", 1e6 / s.median),
               fmt::format("{:.2f}", row->input_bytes / s.median / 1e3),
               with_commas(static_cast<std::int64_t>(bytes)),
               row->psnr > 0 ? fmt::format("{:.2f}", row->psnr) : ""});
  }
  return table;
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

std::string energy_line(const Row& row) {
  const FrameEnergy& energy = *row.energy;
  return wrapped(
             fmt::format("energy of {}: {:.3f} mJ a frame, {:.3f} of them above idle; {:.1f} W, "
                         "idle {:.1f} W, {:.1f} s",
                         row.id(), 1e3 * energy.joules, 1e3 * energy.above_idle_joules,
                         energy.watts, energy.idle_watts, energy.seconds),
             2) +
         "\n";
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

}  // namespace

double machine_load() {
  double minute = 0;
  return getloadavg(&minute, 1) == 1 ? minute : -1;
}

Facts machine_facts(const std::vector<int>& cuda) {
  Facts facts;
  facts.emplace_back("date",
                     fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(std::time(nullptr))));
  facts.emplace_back("zerorun", version());
  facts.emplace_back("compiler", fmt::format("{} {}", ZERORUN_COMPILER, ZERORUN_BUILD_TYPE));
  if (have_libjpeg()) facts.emplace_back("peer", libjpeg_version());
  add_if_known(facts, "cpu", value_of("/proc/cpuinfo", "model name"));
  facts.emplace_back("cores", std::to_string(usable_processors()));
  add_if_known(facts, "cpu clock",
               first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"));
  add_if_known(facts, "memory", memory_text(value_of("/proc/meminfo", "MemTotal")));
  if (const double load = machine_load(); load >= 0)
    facts.emplace_back("load before", fmt::format("{:.2f}", load));
  utsname system{};
  if (uname(&system) == 0)
    facts.emplace_back("system",
                       fmt::format("{} {} {}", system.sysname, system.release, system.machine));
  if (!cuda.empty()) add_cuda_facts(cuda, facts);
  return facts;
}

std::string title_text(const Case& what) {
  const std::string size = what.mixed ? fmt::format("{:.2f} to {:.2f} megapixels",
                                                    what.least_megapixels, what.most_megapixels)
                                      : fmt::format("{}x{}", what.width, what.height);
  std::string text =
      fmt::format("{} {}: {} {}, {} {}{}", name(what.operation), what.input, size,
                  what.mixed && what.planar ? "planar" : zerorun::name(what.pixels), what.frames,
                  what.mixed ? "image" : "frame", what.frames == 1 ? "" : "s");
  if (what.streams == Streams::input)
    return text + (what.mixed ? ", the input's own streams"
                              : fmt::format(", the input's own streams, sampling {}, restart {}",
                                            zerorun::name(what.sampling), what.restart));
  SizeOptions goal;
  goal.target = what.target_size;
  text += fmt::format(", {}, sampling {}, {}{} tables, restart {}", size_text(goal, what.quality),
                      zerorun::name(what.sampling), what.progressive ? "progressive, " : "",
                      name(what.huffman), what.restart);
  if (what.tune != Tune::exact)
    text += fmt::format(", tune {} {}", zerorun::name(what.tune), zerorun::name(what.effort));
  if (what.streams == Streams::libjpeg) text += ", streams of libjpeg-turbo";
  return text;
}

std::string notes_text(const CaseResult& result) {
  std::string text;
  for (const std::string& sentence : sentences(result)) text += wrapped(sentence, 2) + "\n";
  for (const std::string& sentence : warnings(result))
    text += wrapped("warning: " + sentence, 2) + "\n";
  for (const std::string& note : result.notes) text += wrapped("left out: " + note, 2) + "\n";
  return text;
}

std::string command_lines(const std::string& command) {
  return wrapped("again: " + command, 4, " \\") + "\n";
}

std::string table_text(const CaseResult& result, bool every_row) {
  std::string text = wrapped(title_text(result.what), 2) + "\n";
  std::vector<const Row*> rows;
  for (const Row& row : result.rows) rows.push_back(&row);
  if (!every_row) rows = best_rows(result);
  text += table_of(rows).text();
  for (const Row* row : rows)
    if (!row->stages.empty()) text += stage_lines(*row);
  for (const Row* row : rows)
    if (row->energy) text += energy_line(*row);
  return text + notes_text(result);
}

std::string primitives_text(const std::vector<PrimitiveRow>& rows) {
  TextTable table({{"primitive", 0, true},
                   {"form", 0, true},
                   {"data", 0, true},
                   {"input MB", 1},
                   {"us"},
                   {"input GB/s", 2},
                   {"of copy"}});
  double copy = 0;  // bytes a microsecond, read and written
  for (const PrimitiveRow& row : rows) {
    const double median = summarise(row.microseconds).median;
    if (row.primitive == "copy") copy = row.traffic_bytes / median;
    table.add({row.primitive, row.form, row.data, fmt::format("{:.3f}", row.input_bytes / 1e6),
               fmt::format("{:.1f}", median), fmt::format("{:.1f}", row.input_bytes / median / 1e3),
               fmt::format("{:.1f}%", 100 * row.traffic_bytes / median / copy)});
  }
  return table.text();
}

std::string machine_text(const Facts& facts) {
  std::string text;
  for (const auto& [key, value] : facts)
    text += wrapped(fmt::format("{}: {}", key, value), 2) + "\n";
  return text;
}

}  // namespace zerorun::app::bench
