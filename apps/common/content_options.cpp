// Options of metadata.
// SPDX-License-Identifier: MIT
#include "apps/common/content_options.hpp"

#include "apps/common/option_kinds.hpp"

namespace zerorun::app {

void add_content_choices(CLI::App& app, ContentOptions& content, bool with_file) {
  add_choice<bool>(app, "--metadata", content.copy_metadata, {{"copy", true}, {"none", false}},
                   "Keep EXIF, XMP, colour profiles, titles and the other tags of INPUT, or leave "
                   "them out. The orientation of pictures is always kept");
  const auto read = [&content, with_file](const std::string& word) {
    if (word == "keep") {
      content.icc = IccMode::keep;
    } else if (word == "convert") {
      content.icc = IccMode::convert;
    } else if (word == "none") {
      content.icc = IccMode::none;
    } else if (with_file) {
      content.icc = IccMode::file;
      content.icc_file = word;
    } else {
      throw CLI::ValidationError("--icc", "'" + word + "' is not one of keep|convert|none");
    }
  };
  app.add_option_function<std::string>(
         "--icc", read,
         std::string("The colour profile of INPUT: keep it, convert the pictures to sRGB, or leave "
                     "it out") +
             (with_file
                  ? "; or the profile of FILE, an ICC file or a JPEG file with one, for every "
                    "frame"
                  : ""))
      ->type_name(with_file ? "keep|convert|none|FILE" : "keep|convert|none")
      ->default_str("keep");
}

void add_stream_options(CLI::App& app, bool& copies_streams, bool& stops_at_losses) {
  add_choice<bool>(app, "--streams", copies_streams, {{"copy", true}, {"none", false}},
                   "Copy the subtitles and attachments of INPUT into containers that hold them, or "
                   "leave all streams but pictures and sound out");
  add_choice<bool>(
      app, "--losses", stops_at_losses, {{"note", false}, {"stop", true}},
      "What happens if OUTPUT has no place for something that INPUT has: one line says "
      "so (-v lists all), or nothing is written (exit 4)");
}

nlohmann::ordered_json content_parameters(const ContentOptions& content) {
  return {{"metadata", content.copy_metadata},
          {"autorotate", content.autorotate},
          {"icc", static_cast<int>(content.icc)},
          {"icc_file", content.icc_file}};
}

}  // namespace zerorun::app
