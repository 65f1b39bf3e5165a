// GStreamer's raw video in zerorun's types, and what the elements negotiate.
// SPDX-License-Identifier: MIT
#pragma once

#include <gst/video/gstvideodecoder.h>
#include <gst/video/gstvideoencoder.h>
#include <gst/video/video.h>
#include <optional>

#include "io/samples/samples.hpp"
#include "zerorun/decoder.hpp"
#include "zerorun/encoder.hpp"
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

/// Announces a new size or format of the stream to downstream. The format is the stream's own if
/// downstream accepts it, else the first of downstream's formats that can be made. `input` may be
/// null. False if downstream accepts none.
bool negotiate_output(GstVideoDecoder* decoder, const StreamInfo& stream,
                      GstVideoCodecState* input);

/// Lets the decoder's pool choose its strides if downstream knows GstVideoMeta.
void use_any_strides(GstQuery* query);

/// Copies the pixel aspect of the input to the JFIF header. JFIF's densities have 16 bits; a larger
/// one is left to the container.
void set_pixel_aspect(EncodeParams& params, const GstVideoInfo& info) noexcept;

/// Where rtpjpegpay follows `encoder`: choices that are left to the element ("auto" sampling)
/// become what RFC 2435 carries, and a warning is posted about those that it cannot.
void fit_to_payloader(GstElement* encoder, EncodeParams& params, PixelFormat format);

/// Sets the output caps and the latency of an encoder with `lanes` lanes.
void announce_output(GstVideoEncoder* encoder, GstVideoCodecState* input,
                     const EncodeParams& params, int lanes);

}  // namespace zerorun::gst
