// How players turn the pictures of a stream: its display matrix, read, written, and which
// containers hold it.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "io/ffmpeg/av.hpp"
#include "zerorun/sink.hpp"
#include "zerorun/source.hpp"

namespace zerorun::io::av {

/// Sets rotation_degrees, to the nearest quarter turn, and mirrored.
void read_display_matrix(const AVStream& stream, SourceInfo& info);

/// Errors: out_of_memory.
Status set_display_matrix(const SinkOptions& options, AVStream& stream);

/// True if FFmpeg reads the display matrix of a video of this muxer as it was written. FFmpeg 5.1
/// has no place for it in Matroska, FFmpeg 7 has one.
bool holds_display_matrix(const SinkOptions& options, const std::string& muxer);

}  // namespace zerorun::io::av
