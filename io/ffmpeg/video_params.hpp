// The video stream of an output container, described as players expect Motion JPEG to be.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "io/ffmpeg/av.hpp"
#include "zerorun/io.hpp"

namespace zerorun::io::av {

/// Fills a new stream: codec, size, sampling, full range BT.601, exact rate, aspect, rotation.
/// Errors: invalid_argument (no size, no rate), out_of_memory.
Status describe_video(const SinkOptions& options, AVStream& stream);

/// The clock of time stamps before the muxer chooses its own: one tick a frame at a constant rate.
AVRational video_time_base(const SinkOptions& options);

/// What of the options the container has no place for, as a sentence; empty if nothing.
std::string video_notice(const SinkOptions& options, const std::string& muxer);

}  // namespace zerorun::io::av
