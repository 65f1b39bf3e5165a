// What the program has to know of an OUTPUT before it opens it.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "apps/common/options.hpp"
#include "zerorun/io.hpp"

namespace zerorun::app {

/// Sets the formats of INPUT and OUTPUT from --format, which means whichever of the two is "-".
/// Ends the command with exit 2 where it fits neither.
void apply_format_option(const std::string& format, bool output_is_jpeg, InputOptions& input,
                         OutputOptions& output);

io::Location input_location(const InputOptions& input);
io::Location output_location(const InputOptions& input, const OutputOptions& output);

/// A container that holds pictures of one size, time stamps and audio: MOV, MP4, MKV, AVI.
bool is_container(const io::Location& output);
/// A numbered sequence or single picture, which hold no time.
bool is_images(const io::Location& output);

/// Binary data does not belong on a terminal: exit 2.
void refuse_terminal(const io::Location& output);

/// Time, aspect and turn as the source has them.
io::SinkOptions sink_options(const io::SourceInfo& source, const OutputOptions& output, int width,
                             int height);

/// The unfinished file that a second signal has to remove.
void register_part(const io::Location& output);

}  // namespace zerorun::app
