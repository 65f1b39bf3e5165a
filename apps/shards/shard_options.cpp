// The options by which encode and decode make a shard, or go on after a kill.
// SPDX-License-Identifier: MIT
#include "apps/shards/shard_options.hpp"

#include <CLI/CLI.hpp>

#include <string_view>
#include <utility>

#include "apps/common/options.hpp"

namespace zerorun::app {

namespace {

constexpr std::pair<std::string_view, const char*> kSampleRanges[] = {
    {"auto", ""}, {"limited", "tv"}, {"full", "pc"}};

}  // namespace

void add_shard_options(CLI::App& app, ShardOptions& options, std::string& sample_range) {
  app.option_defaults()->group("Shards");
  const auto read_shard = [&options](const std::string& text) {
    options.automatic = text == "auto";
    options.shard = parse_shard(text);
    if (!options.automatic && !options.shard)
      throw CLI::ValidationError("--shard",
                                 "'" + text + "' is not I/N with I from 0 to N-1, or auto");
  };
  app.add_option_function<std::string>("--shard", read_shard,
                                       "Make part I of N of OUTPUT, in the folder "
                                       "OUTPUT.shards, on this machine or any other; "
                                       "then `zerorun concat OUTPUT` joins them to the bytes "
                                       "of one run. auto: as Slurm's job "
                                       "array or srun, mpirun or PMIx number their tasks")
      ->type_name("I/N|auto");
  const auto read_range = [&options, &sample_range](const std::string& text) {
    for (const auto& [word, name] : kSampleRanges)
      if (text == word) return void(sample_range = name);
    options.range = parse_frame_span(text);
    if (!options.range)
      throw CLI::ValidationError(
          "--range",
          "'" + text +
              "' is neither frames (A:B or A:B:STEP with A < B) nor the range of samples "
              "(auto, limited, full)");
  };
  app.add_option_function<std::string>(
         "--range", read_range,
         "Two different things. auto, limited or full: the range of the samples of video; auto "
         "takes "
         "what the file says, and limited where it does not say. A:B or A:B:STEP: a shard of the "
         "frames A, A+STEP, ... below B of all frames, counted from 0, as a render manager hands "
         "them out (--frames A:B selects frames of a run without shards). Both may be given")
      ->type_name("auto|limited|full|A:B[:STEP]")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->trigger_on_parse();
  app.add_flag("--resume", options.resume,
               "Go on where an earlier run with the same input and options was ended; keep a shard "
               "that is whole. Without a shard it works for OUTPUT if every run has it; the frames "
               "wait in OUTPUT.shards then and take their room twice while they are joined");
}

}  // namespace zerorun::app
