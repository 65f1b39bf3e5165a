// What `zerorun bench` does beside timing frames in memory: --files, --curves, --exact-size and
// --compare.
// SPDX-License-Identifier: MIT
#include "apps/bench/other_runs.hpp"

#include <fmt/core.h>

#include <cstdio>
#include <exception>
#include <fstream>
#include <string>

#include "apps/bench/command_text.hpp"
#include "apps/bench/files/files.hpp"
#include "apps/bench/quality/meters.hpp"
#include "apps/bench/quality/other_points.hpp"
#include "apps/bench/quality/quality.hpp"
#include "apps/bench/report/report.hpp"
#include "apps/bench/report/text_table.hpp"
#include "apps/bench/report/sentences.hpp"
#include "apps/bench/report_files.hpp"
#include "apps/bench/sizes/sizes.hpp"
#include "apps/common/console.hpp"
#include "apps/common/signals.hpp"

namespace zerorun::app::bench {
namespace {

nlohmann::json read_report(const std::string& name) {
  std::ifstream file(name);
  if (!file) fail(Exit::input, name, Status(Errc::open_failed));
  try {
    return nlohmann::json::parse(file);
  } catch (const nlohmann::json::exception&) {
    fail(Exit::input, name + ": it is not a JSON file");
  }
}

void measure_from_files(const Options& options, const Selection& all, std::vector<Case>& cases,
                        Report& report) {
  Selection selection = all;
  if (options.selection.threads.empty()) selection.threads = {selection.threads.back()};
  for (Case& what : cases) {
    const TemporaryFolder folder(options.folder);
    const FilesSetting setting = prepare_files(options, selection, what, folder);
    what.width = setting.width;
    what.height = setting.height;
    what.frames = static_cast<std::size_t>(setting.frames);
    const std::string command = command_of(options, all, what);
    report.cases.push_back(run_files(what, setting, command));
    fmt::print("{}\n{}{}\n", wrapped(title_text(what) + ", from file to file", 2),
               files_table_text(report.cases.back()), command_lines(command));
    std::fflush(stdout);
  }
}

}  // namespace

bool run_from_files(const Options& options, const Selection& selection, std::vector<Case>& cases,
                    Report& report) {
  const signals::Graceful graceful;  // so that the folder is removed
  try {
    measure_from_files(options, selection, cases, report);
    return signals::received() == 0;
  } catch (const Failure&) {
    if (signals::received() == 0) throw;
    return false;
  }
}

Exit run_curves(const Options& options, const Selection& selection) {
  ReportFiles files(options);
  QualityReport report = measure_quality(options, selection);
  if (!options.points.empty()) add_other_points(options.points, report);
  report.command = curves_command(options, selection);
  const MeterChoice meters = choose_meters(options, selection);
  report.machine = machine_facts(meters.cuda ? std::vector<int>{*meters.cuda} : std::vector<int>{});
  console::clear_progress();
  fmt::print("{}", quality_text(report, options.every_row));
  files.write_json([&] { return quality_json(report).dump(1) + "\n"; });
  files.write_csv([&] { return quality_csv(report); });
  files.write_html([&] { return quality_html(report); });
  return Exit::done;
}

Exit run_exact_size(const Options& options, const Selection& selection) {
  ReportFiles files(options);
  SizesReport report = measure_sizes(options, selection);
  report.command = exact_size_command(options, selection);
  report.machine = machine_facts(selection.cuda);
  console::clear_progress();
  fmt::print("{}\n{}", machine_text(report.machine), sizes_text(report, options.every_row));
  files.write_json([&] { return sizes_json(report).dump(1) + "\n"; });
  files.write_csv([&] { return sizes_csv(report); });
  return Exit::done;
}

Exit run_compare(const Options& options) {
  const nlohmann::json before = read_report(options.compare[0]);
  const nlohmann::json after = read_report(options.compare[1]);
  try {
    const ComparisonText comparison = compare_reports(before, after, options.threshold);
    fmt::print("{}", comparison.text);
    return comparison.is_slower ? Exit::failed : Exit::done;
  } catch (const std::exception&) {
    fail(Exit::input, options.compare[0] + ", " + options.compare[1] +
                          ": not reports of this version of zerorun bench --json");
  }
}

}  // namespace zerorun::app::bench
