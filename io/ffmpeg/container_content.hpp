// Tags, time code, field order, stereo layout and display matrix of containers, as FFmpeg reads and
// writes them.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "io/ffmpeg/av.hpp"
#include "zerorun/sink.hpp"
#include "zerorun/source.hpp"

namespace zerorun::io::av {

using Tags = std::vector<std::pair<std::string, std::string>>;

ContainerContent content_of(AVFormatContext& context, AVStream& video);
/// Without those that describe the file that was read, and not its content.
Tags tags_of(const AVDictionary* dictionary);
/// Whether `muxer` has a code for a language of ISO 639-2.
bool holds_language(const std::string& muxer, const std::string& language);

/// Tags and time code of a new output. The time code is advanced by SinkOptions::first_frame.
void set_tags(const SinkOptions& options, AVFormatContext& output);
void set_stream_tags(const Tags& tags, const AVFormatContext& output, AVStream& stream);
/// The chapters of the range of time of the options, counted from its start.
Status add_chapters(const SinkOptions& options, AVFormatContext& output);
/// True if MOV or MP4 need their newer list of keys (`use_metadata_tags`) for these tags. In MP4 it
/// takes the place of the tags of iTunes.
bool needs_key_list(const ContainerContent& content, const std::string& muxer);
/// Primaries, transfer, matrix and range, where the source tells more than JFIF does.
void set_colour(const ContainerContent& content, AVCodecParameters& codec);
void set_field_order(const ContainerContent& content, AVCodecParameters& codec);
Status set_stereo_mode(const ContainerContent& content, const std::string& muxer, AVStream& video);

/// Sets rotation_degrees, to the nearest quarter turn, and mirrored, by the display matrix.
void read_display_matrix(const AVStream& stream, SourceInfo& info);
/// Errors: out_of_memory.
Status set_display_matrix(const SinkOptions& options, AVStream& stream);
/// True if FFmpeg writes the display matrix of a video by this muxer.
bool holds_display_matrix(const std::string& muxer);

}  // namespace zerorun::io::av
