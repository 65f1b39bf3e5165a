// The formats of OUTPUT, and the options of its sink.
// SPDX-License-Identifier: MIT
#include "apps/common/outputs.hpp"

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <string_view>
#include <unistd.h>

#include "apps/common/console.hpp"
#include "apps/common/failure.hpp"
#include "apps/common/signals.hpp"

namespace zerorun::app {
namespace {

std::string format_word(const io::Location& location) {
  std::string word = location.format;
  if (word.empty()) {
    const auto slash = location.name.rfind('/');
    const auto dot = location.name.rfind('.');
    if (dot != std::string::npos && (slash == std::string::npos || dot > slash))
      word = location.name.substr(dot + 1);
  }
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return word;
}

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

}  // namespace

void apply_format_option(const std::string& format, bool output_is_jpeg, InputOptions& input,
                         OutputOptions& output) {
  if (format.empty()) return;
  // If both are "-", the side that is not always JPEG is meant: the input of encode, the output of
  // decode. "mjpeg" always means the input of decode.
  const bool means_output = output.name == "-" && !output_is_jpeg && format != "mjpeg";
  if (means_output) {
    output.format = format;
  } else if (input.name == "-") {
    input.format = format;
  } else if (output.name == "-") {
    output.format = format;
  } else {
    fail(Exit::usage, "--format says what '-' is, but neither INPUT nor OUTPUT is '-'");
  }
}

io::Location input_location(const InputOptions& input) {
  return {input.name, input.format, input.start_number, input.names};
}

io::Location output_location(const InputOptions& input, const OutputOptions& output) {
  return {output.name, output.format, input.start_number};
}

std::string output_kind(const io::Location& output) { return format_word(output); }

bool is_container(const io::Location& output) {
  return !io::is_measuring_output(output) && output.name != "-" &&
         is_one_of(format_word(output), {"mov", "mp4", "m4v", "mkv", "matroska", "avi"});
}

bool is_images(const io::Location& output) {
  return !io::is_measuring_output(output) &&
         is_one_of(format_word(output), {"jpg", "jpeg", "jpe", "png", "tif", "tiff", "bmp", "webp",
                                         "pnm", "ppm", "pgm", "pbm", "jfif", "dib"});
}

bool is_pattern(const std::string& name) {
  return io::numbered_path({name, {}, {}}, 0).has_value();
}

bool is_single_image(const io::Location& output) {
  return is_images(output) && output.name != "-" && !is_pattern(output.name);
}

void refuse_terminal(const io::Location& output) {
  if (output.name == "-" && isatty(STDOUT_FILENO) == 1)
    fail(Exit::usage,
         "-: pictures are not written to a terminal; redirect stdout to a file or a program");
}

io::SinkOptions sink_options(const io::SourceInfo& source, const OutputOptions& output, int width,
                             int height) {
  io::SinkOptions options;
  options.overwrite = output.overwrite;
  options.width = width;
  options.height = height;
  options.frame_rate = source.frame_rate.known() ? source.frame_rate : io::Rational{25, 1};
  options.time_base = source.time_base;
  options.sample_aspect = source.sample_aspect;
  options.rotation_degrees = source.rotation_degrees;
  options.mirrored = source.mirrored;
  options.variable_frame_rate = source.variable_frame_rate;
  return options;
}

void register_part(const io::Location& output) {
  constexpr std::string_view kMd5 = "md5:";
  std::string path = output.name;
  if (path.starts_with(kMd5)) path.erase(0, kMd5.size());
  if (path != "-" && !path.empty()) signals::remove_when_killed(path + ".part");
}

void end_output(const io::Location& output, const Status& finished) {
  if (!finished) fail(Exit::output, output.name, finished);
  signals::forget_removals();
}

void note_output(const io::Location& output, const io::PacketSink& sink) {
  if (const std::string notice = sink.notice(); !notice.empty())
    console::note(output.name + ": " + notice);
}

}  // namespace zerorun::app
