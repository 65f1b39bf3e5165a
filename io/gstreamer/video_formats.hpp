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

/// The formats that the encoder takes and the decoder gives, as in a caps string.
#define ZR_GST_FORMATS                                                                          \
  "{ I420, YV12, NV12, NV21, Y42B, Y444, Y41B, YUY2, UYVY, GRAY8, RGB, BGR, RGBx, BGRx, xRGB, " \
  "xBGR }"
#define ZR_GST_RAW_CAPS                                       \
  "video/x-raw, format = (string) " ZR_GST_FORMATS            \
  ", "                                                        \
  "width = (int) [ 1, 65535 ], height = (int) [ 1, 65535 ], " \
  "framerate = (fraction) [ 0, MAX ]"

/// nullopt for formats that are not in ZR_GST_FORMATS.
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
