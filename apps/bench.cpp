// `zerorun bench`: the time per frame, with peers on the same frames in the same run.
// SPDX-License-Identifier: MIT
#include <fmt/core.h>

#include <cstdio>
#include <memory>
#include <string>

#include "apps/bench/options.hpp"
#include "apps/bench/report.hpp"
#include "apps/bench/run_case.hpp"
#include "apps/commands.hpp"
#include "apps/common/console.hpp"
#include "apps/common/safe_file.hpp"

namespace zerorun::app {
namespace bench {
namespace {

std::string join(const std::vector<int>& numbers) {
  std::string text;
  for (const int n : numbers) text += (text.empty() ? "" : ",") + std::to_string(n);
  return text;
}

std::string devices_text(const Selection& selection) {
  std::string text = selection.cpu ? "cpu" : "";
  for (const int device : selection.cuda)
    text += fmt::format("{}cuda:{}", text.empty() ? "" : ",", device);
  return text;
}

class BenchRun {
 public:
  explicit BenchRun(const Options& options) : options_(options), selection_(selection(options)) {
    if (options_.inputs.empty()) options_.inputs = {"synthetic:1920x1080:photo"};
  }

  Exit run() {
    if (!options_.json.empty())
      json_ = std::make_unique<SafeFile>(options_.json, options_.overwrite);
    report_.machine = machine_facts(selection_.cuda);
    for (const std::string& input : options_.inputs)
      for (const Case& what : cases_of(options_, input)) cases_.push_back(what);
    fmt::print("{}\n", machine_text(report_.machine));
    for (Case& what : cases_) run(what);
    if (json_) {
      json_->write(report_json(report_).dump(1) + "\n");
      json_->finish();
    }
    return Exit::done;
  }

 private:
  void run(Case& what) {
    if (frames_.input != what.input || frames_.view(0).format != what.pixels) {
      tell(what.input + ": loading");
      frames_ = load_frames(what.input, what.pixels, static_cast<std::size_t>(options_.rotate));
    }
    what.width = frames_.view(0).width;
    what.height = frames_.view(0).height;
    what.frames = frames_.size();
    const std::string command = command_of(what);
    report_.cases.push_back(run_case(what, frames_, selection_, options_.limits, command));
    fmt::print("{}again: {}\n\n", table_text(report_.cases.back(), options_.every_row), command);
    std::fflush(stdout);
  }

  std::string command_of(const Case& what) const {
    std::string text = fmt::format(
        "zerorun bench '{}' --operation {} --pixels {} --quality {} --subsampling {} --huffman {} "
        "--restart {} --device {} "
        "--threads {} {}",
        what.input, name(what.operation), zerorun::name(what.pixels), what.quality,
        zerorun::name(what.sampling), name(what.huffman), what.restart, devices_text(selection_),
        join(selection_.threads), limits_text(options_));
    if (!selection_.cuda.empty())
      text += fmt::format(" --in-flight {} --peer-threads {}", join(selection_.in_flight),
                          join(selection_.peer_threads));
    return text;
  }

  Options options_;
  Selection selection_;
  std::unique_ptr<SafeFile> json_;
  std::vector<Case> cases_;
  FrameSet frames_;
  Report report_;
};

}  // namespace
}  // namespace bench

Command add_bench(CLI::App& program) {
  auto options = std::make_shared<bench::Options>();
  CLI::App* command =
      program.add_subcommand("bench", "Measure the time per frame, with peers beside it");
  command->footer(
      "Examples:\n"
      "  zerorun bench\n"
      "  zerorun bench 'photos/*.jpg' -q 75,90 --huffman standard,optimal --device cuda\n"
      "  zerorun bench synthetic:3840x2160:photo --only 'zerorun/*' --json times.json");
  bench::add_options(*command, *options);
  return [options] {
    console::set_quiet(options->quiet);
    return bench::BenchRun(*options).run();
  };
}

}  // namespace zerorun::app
