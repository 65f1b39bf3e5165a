// Tags, time code, field order and stereo layout of containers, as FFmpeg reads and writes them.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "io/ffmpeg/av.hpp"
#include "zerorun/sink.hpp"

namespace zerorun::io::av {

ContainerContent content_of(AVFormatContext& context, AVStream& video);

/// Tags and time code of a new output. The time code is advanced by SinkOptions::first_frame.
void set_tags(const SinkOptions& options, AVFormatContext& output);
void set_stream_tags(const ContainerContent& content, AVStream& video);
void set_field_order(const ContainerContent& content, AVCodecParameters& codec);
Status set_stereo_mode(const ContainerContent& content, const std::string& muxer, AVStream& video);

}  // namespace zerorun::io::av
