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
#include "apps/bench/quality/other_points.hpp"
#include "apps/bench/quality/quality.hpp"
#include "apps/bench/report/report.hpp"
#include "apps/bench/report/text_table.hpp"
#include "apps/bench/report/verdict.hpp"
#include "apps/bench/sizes/sizes.hpp"
#include "apps/bench/tune/tune.hpp"
#include "apps/commands.hpp"
#include "apps/common/console.hpp"
#include "apps/common/failure.hpp"
#include "apps/common/json_text.hpp"
#include "apps/common/safe_file.hpp"
#include "apps/common/signals.hpp"

#include <CLI/CLI.hpp>

namespace zerorun::app {
namespace bench {
namespace {

template <typename T>
std::string join(const std::vector<T>& values, const char* separator = ",") {
  return fmt::format("{}", fmt::join(values, separator));
}

std::string devices_text(const Selection& selection) {
  std::string text = selection.cpu ? "cpu" : "";
  for (const int device : selection.cuda)
    text += fmt::format("{}cuda:{}", text.empty() ? "" : ",", device);
  for (const std::vector<int>& team : selection.teams)
    text += fmt::format("{}cuda:{}", text.empty() ? "" : ",", join(team));
  return text;
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
    if (options_.tune) return run_tune();
    if (options_.curves) return run_curves();
    if (options_.exact_size) return run_exact_size();
    if (options_.primitives && selection_.cuda.empty()) {
      const auto cuda = resolve_backend(Backend::cuda);
      fail(Exit::device, cuda ? "--primitives are measured on a GPU; add --device cuda"
                              : cuda.status().message());
    }
    for (const std::string& input : options_.inputs)
      for (const Case& what : cases_of(options_, input)) cases_.push_back(what);
    open_files();
    if (!options_.primitives && !options_.files) open_inputs();
    report_.command = command_text(options_);
    report_.machine = machine_facts(all_cuda(selection_));
    fmt::print("{}\n", machine_text(report_.machine));
    warn_if_busy();
    if (options_.primitives) {
      run_primitives();
    } else if (options_.files) {
      if (!run_from_files()) return Exit::done;  // main() ends with the code of the signal
      check_wanted_rows();
    } else {
      for (Case& what : cases_) run(what);
      check_wanted_rows();
    }
    if (const std::vector<int> all = all_cuda(selection_); !all.empty())
      add_clocks(all, report_.machine);
    if (json_) write(*json_, json_text(report_json(report_), 1) + "\n");
    if (csv_) write(*csv_, report_csv(report_));
    if (html_) write(*html_, report_html(report_));
    return Exit::done;
  }

 private:
  void warn_if_busy() {
    const auto busy = load_warning(machine_load(), std::thread::hardware_concurrency());
    if (!busy) return;
    report_.warnings.push_back(*busy);
    fmt::print("{}\n\n", wrapped("warning: " + *busy, 2));
  }

  /// Before anything is measured, so that a name that cannot be written is an error at once.
  void open_files() {
    const auto open = [this](const std::string& name) {
      return name.empty() ? nullptr : std::make_unique<SafeFile>(name, options_.overwrite);
    };
    json_ = open(options_.json), csv_ = open(options_.csv), html_ = open(options_.html);
  }

  /// The same for a name that cannot be read. The frames of the first case are kept; of each other
  /// input one frame is read, unless it is a pipe, which would lose it.
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

  static void write(SafeFile& file, const std::string& text) {
    file.write(text);
    file.finish();
  }

  Exit run_tune() {
    if (cuda_tune_bench == nullptr) fail(Exit::device, Status(Errc::cuda_not_built).message());
    if (selection_.cuda.empty()) {
      const auto cuda = resolve_backend(Backend::cuda);
      fail(Exit::device,
           cuda ? "--tune measures a GPU; add --device cuda" : cuda.status().message());
    }
    for (const int device : selection_.cuda) {
      const std::string kind = device_kind(value_or_fail(cuda_device(device), Exit::device, ""));
      use_policy(kind, {});
      const TuneResult result = tune(cuda_tune_bench(device));
      console::clear_progress();
      fmt::print("{}", tune_text(kind, result));
      if (options_.keep) keep(kind, result.policy);
    }
    return Exit::done;
  }

  Exit run_curves() {
    open_files();
    QualityReport report = measure_quality(options_, selection_);
    if (!options_.points.empty()) add_other_points(options_.points, report);
    report.command = curves_command();
    const MeterChoice meters = choose_meters(options_, selection_);
    report.machine =
        machine_facts(meters.cuda ? std::vector<int>{*meters.cuda} : std::vector<int>{});
    console::clear_progress();
    fmt::print("{}", quality_text(report, options_.every_row));
    if (json_) write(*json_, quality_json(report).dump(1) + "\n");
    if (csv_) write(*csv_, quality_csv(report));
    if (html_) write(*html_, quality_html(report));
    return Exit::done;
  }

  Exit run_exact_size() {
    open_files();
    SizesReport report = measure_sizes(options_, selection_);
    report.command = exact_size_command();
    report.machine = machine_facts(selection_.cuda);
    console::clear_progress();
    fmt::print("{}\n{}", machine_text(report.machine), sizes_text(report, options_.every_row));
    if (json_) write(*json_, sizes_json(report).dump(1) + "\n");
    if (csv_) write(*csv_, sizes_csv(report));
    return Exit::done;
  }

  std::string exact_size_command() const {
    std::string text = fmt::format(
        "zerorun bench --exact-size '{}' --quality {} --subsampling {} --huffman {} --tunes {} "
        "--effort {} --restart {} --index {} --device {} --threads {}",
        join(options_.inputs, "' '"), join(options_.qualities), join(options_.samplings),
        join(options_.tables), join(options_.tunes), join(options_.efforts),
        join(options_.restarts), join(options_.indexes), devices_text(selection_),
        selection_.threads.front());
    if (options_.rotate) text += fmt::format(" --rotate {}", *options_.rotate);
    return text;
  }

  std::string curves_command() const {
    std::string text = fmt::format("zerorun bench --curves '{}' --quality {} --subsampling {}",
                                   join(options_.inputs, "' '"), join(options_.qualities),
                                   join(options_.samplings));
    if (options_.rotate) text += fmt::format(" --rotate {}", *options_.rotate);
    if (!options_.devices.empty()) text += " --device " + devices_text(selection_);
    if (selection_.no_peers) text += " --no-peers";
    if (!options_.points.empty()) text += fmt::format(" --points '{}'", options_.points);
    return text;
  }

  static void keep(const std::string& kind, const TuningPolicy& policy) {
    if (const Status status = keep_policy(kind, policy); !status)
      fail(Exit::output, status.message());
    fmt::print("kept in {}\n", policy_file(kind));
  }

  void run_primitives() {
    tell("primitives");
    report_.primitives = measure_primitives(selection_.cuda.front(), options_.quick);
    console::clear_progress();
    fmt::print("{}", primitives_text(report_.primitives));
  }

  void run(Case& what) {
    load(what);
    const std::string command = command_of(what);
    describe(frames_, what);
    report_.cases.push_back(run_case(what, frames_, selection_, options_.limits, command,
                                     options_.energy ? &energy_ : nullptr));
    if (options_.is_decoding_left_out)
      report_.cases.back().notes.push_back("decode: it makes no streams, so there is no size");
    if (options_.contents) {
      if (report_.cases.size() == 1) fmt::print("{}", contents_heading());
      fmt::print("{}", contents_line(report_.cases.back(), report_.cases.front()));
      std::fflush(stdout);
      return;
    }
    fmt::print("{}{}\n", table_text(report_.cases.back(), options_.every_row),
               command_lines(command));
    std::fflush(stdout);
  }

  /// False after a signal.
  bool run_from_files() {
    const signals::Graceful graceful;  // so that the folder is removed
    try {
      measure_from_files();
      return signals::received() == 0;
    } catch (const Failure&) {
      if (signals::received() == 0) throw;
      return false;
    }
  }

  void measure_from_files() {
    Selection selection = selection_;
    if (options_.selection.threads.empty()) selection.threads = {selection.threads.back()};
    for (Case& what : cases_) {
      const TemporaryFolder folder(options_.folder);
      const FilesSetting setting = prepare_files(options_, selection, what, folder);
      what.width = setting.width;
      what.height = setting.height;
      what.frames = static_cast<std::size_t>(setting.frames);
      const std::string command = command_of(what);
      report_.cases.push_back(run_files(what, setting, command));
      fmt::print("{}\n{}{}\n", wrapped(title_text(what) + ", from file to file", 2),
                 files_table_text(report_.cases.back()), command_lines(command));
      std::fflush(stdout);
    }
  }

  std::string command_of(const Case& what) const {
    Options options = options_;
    const bool as_stored = what.streams == Streams::input && what.planar;
    options.inputs = {what.input};
    options.operations = {name(what.operation)};
    options.pixels = {as_stored ? "planar" : std::string(zerorun::name(what.pixels))};
    options.qualities = {what.quality};
    options.samplings = {std::string(zerorun::name(what.sampling))};
    options.tables = {name(what.huffman)};
    options.tunes = {std::string(zerorun::name(what.tune))};
    options.efforts = {std::string(zerorun::name(what.effort))};
    options.restarts = {what.restart};
    options.indexes = {what.index ? "yes" : "no"};
    options.streams = {name(what.streams)};
    return command_text(options);
  }

  static std::string goal_text(const Options& options) {
    return options.target_size != 0 ? fmt::format("--target-size {}", options.target_size)
                                    : "--quality " + join(options.qualities);
  }

  /// The command line with every default spelled out.
  std::string command_text(const Options& options) const {
    if (options.primitives)
      return fmt::format("zerorun bench --primitives{} --device cuda:{}",
                         options.quick ? " --quick" : "", selection_.cuda.front());
    std::string text = fmt::format(
        "zerorun bench '{}' --operation {} --pixels {} {} --subsampling {} --huffman {} --tunes {} "
        "--effort {} --restart {} --index {} --streams {} --device {} --threads {} {}",
        join(options.inputs, "' '"), join(options.operations), join(options.pixels),
        goal_text(options), join(options.samplings), join(options.tables), join(options.tunes),
        join(options.efforts), join(options.restarts), join(options.indexes), join(options.streams),
        devices_text(selection_), join(selection_.threads), limits_text(options));
    if (!selection_.cuda.empty() || !selection_.teams.empty())
      text += fmt::format(" --in-flight {} --batch {} --peer-threads {} --peer-batch {}",
                          join(selection_.in_flight), join(selection_.batches),
                          join(selection_.peer_threads), join(selection_.peer_batches));
    if (options.files) text += " --files";
    if (options.energy) text += " --energy";
    if (!options.folder.empty()) text += " --folder '" + options.folder + "'";
    if (selection_.no_peers) text += " --no-peers";
    for (const std::string& glob : selection_.only) text += " --only '" + glob + "'";
    return text;
  }

  Options options_;
  Selection selection_;
  std::unique_ptr<SafeFile> json_, csv_, html_;
  std::vector<Case> cases_;
  FrameSet frames_;
  std::optional<FrameRequest> loaded_;  ///< of which frames_ are the answer
  Report report_;
  EnergyBench energy_;
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

Exit compare(const Options& options) {
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
      "  zerorun bench --contents --device cuda --json contents.json\n"
      "  zerorun bench --curves 'photos/*.png' --html curves.html\n"
      "  zerorun bench --exact-size 'photos/*.png' --every-row\n"
      "  zerorun bench synthetic:3840x2160:photo --target-size 1.5M\n"
      "  zerorun bench --files 'frames/%05d.png' --folder /dev/shm\n"
      "  zerorun bench synthetic:4096x3072:photo --megapixels 0.1-12 --every-row\n"
      "  zerorun bench --compare old.json new.json --threshold 3");
  bench::add_options(*command, *options);
  return [options, command] {
    // A repetition of --files is a whole process.
    if (options->files && command->count("--repetitions") == 0) options->limits.repetitions = 5;
    console::set_quiet(options->quiet);
    if (options->contents) bench::choose_contents(*command, *options);
    if (options->exact_size) bench::choose_sizes(*command, *options);
    if (bench::wants_curves(*command, *options)) bench::choose_curves(*command, *options);
    if (options->target_size != 0) bench::choose_target_size(*command, *options);
    if (!options->compare.empty()) return bench::compare(*options);
    return bench::BenchRun(*options).run();
  };
}

}  // namespace zerorun::app
