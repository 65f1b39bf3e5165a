// GStreamer's raw video in zerorun's types: formats, mapped frames, colorimetry.
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include <gst/video/video.h>

#include "io/ycc_to_jfif.hpp"
#include "zerorun/decoder.hpp"
#include "zerorun/frame.hpp"
#include "zerorun/status.hpp"

namespace zerorun::gst {

/// Caps of all raw video that the encoder takes and the decoder gives, to be unreferenced.
GstCaps* raw_caps();

/// nullopt for formats that are not in raw_caps().
std::optional<PixelFormat> pixel_format(GstVideoFormat format) noexcept;

/// The format that holds a stream's samples without loss. GStreamer has none for 4:4:0 and odd
/// factors, which are upsampled to 4:4:4.
GstVideoFormat native_format(const StreamInfo& stream) noexcept;

/// A view of a mapped frame with any strides and offsets.
FrameView view_of(const GstVideoFrame& frame, PixelFormat format) noexcept;

/// How the samples of YCbCr and grey caps are coded; identity for RGB. Errors: invalid_frame
/// (limited-range RGB).
Result<io::YccCoding> coding_of(const GstVideoInfo& info);

}  // namespace zerorun::gst
