// The command line of `zerorun concat`.
// SPDX-License-Identifier: MIT
#include "apps/concat/concat_options.hpp"

#include "apps/common/option_kinds.hpp"

namespace zerorun::app {

void add_concat_options(CLI::App& command, ConcatOptions& options) {
  command.option_defaults()->group("Input");
  command
      .add_option(
          "INPUT", options.inputs,
          "An output whose shards are in OUTPUT.shards, or that folder; with -o also Motion "
          "JPEG files of one size, which are joined in this order")
      ->required()
      ->type_name("INPUT");
  add_parsed(
      command, "--fps", options.fps, parse_rational, "RATE",
      "a frame rate such as 25, 30000/1001 or 23.976",
      "Frame rate of files, for those without one (raw Motion JPEG: 25) or instead of theirs");
  command.add_flag("--allow-missing", options.allow_missing,
                   "Where a shard is missing, hold the frame before, and say how many");
  command.option_defaults()->group("Output");
  command
      .add_option("-o,--output", options.output.name,
                  "video.mov, .mkv, .avi, .mp4 or raw .mjpeg (default: the name that the shards "
                  "belong to)")
      ->type_name("OUTPUT");
  command
      .add_option("--output-format", options.output.format,
                  "What OUTPUT becomes, if its name does not say")
      ->type_name("NAME");
  command.add_flag("-y,--overwrite", options.output.overwrite, "Replace a file that exists");
  command
      .add_option("--audio", options.audio,
                  "The INPUT of the run, whose sound is copied as one run does, or none. It has to "
                  "be named, because no path in a manifest is followed")
      ->type_name("FILE|none");
  command
      .add_option("--manifest", options.manifest,
                  "Write the size, time and XXH3 of every frame, for `zerorun verify --manifest`")
      ->type_name("FILE");
  command.add_flag("--delete-shards", options.delete_shards,
                   "Remove the folder of the shards when OUTPUT is on the disk");
  command.option_defaults()->group("Reports");
  add_console_options(command, options.quiet, options.verbose, "Say what is read and written");
}

}  // namespace zerorun::app
