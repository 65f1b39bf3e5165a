// `zerorun bench`: the time per frame, with peers on the same frames in the same run.
// SPDX-License-Identifier: MIT
#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "apps/bench/files/files.hpp"
#include "apps/bench/options.hpp"
#include "apps/bench/report/report.hpp"
#include "apps/commands.hpp"
#include "apps/common/figures.hpp"
#include "apps/common/input_output.hpp"
#include "apps/common/options.hpp"
#include "apps/common/process.hpp"

#include <CLI/CLI.hpp>

namespace zerorun::app {
namespace bench {
namespace {

/// A file of --json, --csv or --html, if it was asked for. Make it before anything is measured, so
/// that a name that cannot be written is an error at once.
class ReportFile {
 public:
  ReportFile(const std::string& name, bool overwrite) {
    if (!name.empty()) file_.emplace(name, overwrite);
  }
  template <typename Text>
  void write(const Text& text) {
    if (!file_) return;
    file_->write(text());
    file_->finish();
  }

 private:
  std::optional<SafeFile> file_;
};

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

/// --files: adds a result for each case to the report. False after a signal.
bool run_from_files(const Options& options, const Selection& selection, std::vector<Case>& cases,
                    Report& report) {
  const signals::Graceful graceful("ending");  // so that the folder is removed
  try {
    measure_from_files(options, selection, cases, report);
    return signals::received() == 0;
  } catch (const Failure&) {
    if (signals::received() == 0) throw;
    return false;
  }
}

/// --compare: two reports of earlier runs.
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

/// Each device once, alone or in a list.
std::vector<int> all_cuda(const Selection& selection) {
  std::vector<int> all = selection.cuda;
  for (const std::vector<int>& team : selection.teams)
    all.insert(all.end(), team.begin(), team.end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

class BenchRun {
 public:
  explicit BenchRun(const Options& options) : options_(options), selection_(selection(options)) {
    if (options_.inputs.empty()) options_.inputs = {"synthetic:1920x1080:photo"};
  }

  Exit run() {
    if (options_.start_alone) {
      if (start_alone == nullptr || selection_.cuda.empty())
        fail(Exit::device, "no GPU to start; name one with --device cuda:N");
      if (const Status status = start_alone(selection_.cuda.front()); !status)
        fail(Exit::device, status.message());
      return Exit::done;
    }
    if (options_.primitives && selection_.cuda.empty()) {
      const auto cuda = resolve_backend(Backend::cuda);
      fail(Exit::device, cuda ? "--primitives are measured on a GPU; add --device cuda"
                              : cuda.status().message());
    }
    for (const std::string& input : options_.inputs)
      for (const Case& what : cases_of(options_, input)) cases_.push_back(what);
    ReportFile json(options_.json, options_.overwrite), csv(options_.csv, options_.overwrite);
    ReportFile html(options_.html, options_.overwrite);
    if (!options_.primitives && !options_.files) open_inputs();
    report_.command = command_text(options_, selection_);
    report_.machine = machine_facts(all_cuda(selection_));
    fmt::print("{}\n", machine_text(report_.machine));
    warn_if_busy();
    if (options_.primitives) {
      run_primitives();
    } else if (options_.files) {
      if (!run_from_files(options_, selection_, cases_, report_))
        return Exit::done;  // main() ends with the code of the signal
      check_wanted_rows();
    } else {
      for (Case& what : cases_) run(what);
      check_wanted_rows();
    }
    if (const std::vector<int> all = all_cuda(selection_); !all.empty())
      add_clocks(all, report_.machine);
    json.write([&] { return json_text(report_json(report_), 1) + "\n"; });
    csv.write([&] { return report_csv(report_); });
    html.write([&] { return report_html(report_); });
    return Exit::done;
  }

 private:
  void warn_if_busy() {
    const auto busy = load_warning(machine_load(), std::thread::hardware_concurrency());
    if (!busy) return;
    report_.warnings.push_back(*busy);
    fmt::print("{}\n\n", wrapped("warning: " + *busy, 2));
  }

  /// A name that cannot be read is an error before anything is measured. The frames of the first
  /// case are kept; of each other input one frame is read, unless it is a pipe, which would lose
  /// it.
  void open_inputs() {
    for (const Case& what : cases_)
      if (what.input != cases_[0].input && what.input != "-" && !is_synthetic(what.input)) {
        FrameRequest one = frame_request(options_, what);
        one.count = 1;
        one.cut.reset();
        (void)load_frames(one);
      }
    load(cases_[0]);
  }

  void load(const Case& what) {
    FrameRequest request = frame_request(options_, what);
    if (loaded_ == request) return;
    tell(what.input + ": loading");
    frames_ = load_frames(request);
    loaded_ = std::move(request);
  }

  void check_wanted_rows() const {
    const auto& cases = report_.cases;
    if (!selection_.only.empty() &&
        std::none_of(cases.begin(), cases.end(),
                     [](const CaseResult& result) { return result.has_wanted_rows; }))
      fail(Exit::usage, "--only: no row has such a name; without --only all rows are shown");
  }

  void run_primitives() {
    tell("primitives");
    report_.primitives = measure_primitives(selection_.cuda.front(), options_.quick);
    console::clear_progress();
    fmt::print("{}", primitives_text(report_.primitives));
  }

  void run(Case& what) {
    load(what);
    const std::string command = command_of(options_, selection_, what);
    describe(frames_, what);
    report_.cases.push_back(run_case(what, frames_, selection_, options_.limits, command,
                                     options_.energy ? &energy_ : nullptr));
    if (options_.is_decoding_left_out)
      report_.cases.back().notes.push_back("decode: it makes no streams, so there is no size");
    fmt::print("{}{}\n", table_text(report_.cases.back(), options_.every_row),
               command_lines(command));
    std::fflush(stdout);
  }

  Options options_;
  Selection selection_;
  std::vector<Case> cases_;
  FrameSet frames_;
  std::optional<FrameRequest> loaded_;  ///< of which frames_ are the answer
  Report report_;
  EnergyBench energy_;
};

}  // namespace
}  // namespace bench

Command add_bench(CLI::App& program) {
  auto options = std::make_shared<bench::Options>();
  CLI::App* command =
      program.add_subcommand("bench", "Measure the time per frame, beside other coders");
  command->footer(
      "Rows in */stages/* have a clock or CUDA events between the stages. The kernels of\n"
      "zerorun-fused (encoder and decoder) overlap when no event separates them: their sum is\n"
      "more than a frame takes.\n"
      "\n"
      "Examples:\n"
      "  zerorun bench\n"
      "  zerorun bench 'photos/*.jpg' -q 75,90 --huffman standard,optimal --device cuda\n"
      "  zerorun bench synthetic:3840x2160:photo --only 'zerorun/*' --json old.json\n"
      "  zerorun bench photo.jpg --operation decode --streams input,libjpeg,zerorun\n"
      "  zerorun bench 'photos/*.jpg' --mixed --streams input --in-flight 1,4,16 --peer-batch 256\n"
      "  zerorun bench synthetic:3840x2160:photo --target-size 1.5M\n"
      "  zerorun bench --files 'frames/%05d.png' --folder /dev/shm\n"
      "  zerorun bench synthetic:4096x3072:photo --megapixels 0.1-12 --every-row\n"
      "  zerorun bench --compare old.json new.json --threshold 3");
  bench::add_options(*command, *options);
  show_common_options(*command, {"INPUT", "--operation", "--quality", "--files", "--device",
                                 "--threads", "--no-peers", "--only", "--json"});
  return [options, command] {
    // A repetition of --files is a whole process.
    if (options->files && command->count("--repetitions") == 0) options->limits.repetitions = 5;
    if (options->quiet) console::be_quiet();
    if (options->start_alone)
      bench::refuse_beside("--start-alone", *command, {"--files", "--primitives", "--compare"});
    if (options->target_size != 0) bench::choose_target_size(*command, *options);
    if (!options->compare.empty()) return bench::run_compare(*options);
    return bench::BenchRun(*options).run();
  };
}

}  // namespace zerorun::app
