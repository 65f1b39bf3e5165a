// What `zerorun bench` does beside timing frames in memory: --files, --tune and --compare.
// SPDX-License-Identifier: MIT
#include "apps/bench/other_runs.hpp"

#include <fmt/core.h>

#include <cstdio>
#include <exception>
#include <fstream>
#include <string>

#include "apps/bench/options.hpp"
#include "apps/bench/files/files.hpp"
#include "apps/bench/report/report.hpp"
#include "apps/bench/report_files.hpp"
#include "apps/bench/tune/tune.hpp"
#include "apps/common/console.hpp"
#include "apps/common/signals.hpp"

namespace zerorun::app::bench {
namespace {

void keep(const std::string& kind, const TuningPolicy& policy) {
  if (const Status status = keep_policy(kind, policy); !status)
    fail(Exit::output, status.message());
  fmt::print("kept in {}\n", policy_file(kind));
}

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

Exit run_tune(const Options& options, const Selection& selection) {
  if (cuda_tune_bench == nullptr) fail(Exit::device, Status(Errc::cuda_not_built).message());
  if (selection.cuda.empty()) {
    const auto cuda = resolve_backend(Backend::cuda);
    fail(Exit::device, cuda ? "--tune measures a GPU; add --device cuda" : cuda.status().message());
  }
  for (const int device : selection.cuda) {
    const std::string kind = device_kind(value_or_fail(cuda_device(device), Exit::device, ""));
    use_policy(kind, {});
    const TuneResult result = tune(cuda_tune_bench(device));
    console::clear_progress();
    fmt::print("{}", tune_text(kind, result));
    if (options.keep) keep(kind, result.policy);
  }
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
