// Options of `zerorun copy`.
// SPDX-License-Identifier: MIT
#include "apps/copy/copy_options.hpp"

#include "apps/common/content.hpp"
#include "apps/common/option_kinds.hpp"

namespace zerorun::app {

void add_copy_options(CLI::App& command, CopyOptions& options) {
  add_input_options(command, options.input);
  command.add_option("--format", options.format, "What - is: mjpeg")
      ->type_name("mjpeg")
      ->check(CLI::IsMember({"mjpeg"}).description(""));
  add_output_options(command, options.output,
                     "video.mov, .mkv, .avi, .mp4, raw .mjpeg, picture.jpg, a pattern "
                     "'dir/%05d.jpg', - for raw MJPEG on stdout, null: for nothing, or md5:FILE");
  command.option_defaults()->group("Content");
  add_choice<bool>(command, "--audio", options.copy_audio, {{"copy", true}, {"none", false}},
                   "Copy the sound of the input into MOV, MP4, MKV and AVI, or leave it out");
  add_stream_options(command, options.copy_streams, options.stops_at_losses);
  add_choice<bool>(
      command, "--metadata", options.copy_metadata, {{"copy", true}, {"none", false}},
      "Keep the tags, the chapters, the time code and the field order of a container, or "
      "leave them out. The JPEG streams stay as they are in any case");
  command.option_defaults()->group("Reports");
  add_progress_option(command, options.report.progress);
  add_console_options(command, options.report.quiet, options.report.verbose,
                      "Say what is read and what was unusual");
}

}  // namespace zerorun::app
