// What the elements negotiate: caps, colorimetry, latency, buffer pools.
// SPDX-License-Identifier: MIT
#pragma once

#include <gst/video/gstvideodecoder.h>
#include <gst/video/gstvideoencoder.h>

#include "zerorun/decoder.hpp"
#include "zerorun/encoder.hpp"

namespace zerorun::gst {

/// Announces a new size or format of the stream to downstream. The format is the stream's own if
/// downstream accepts it, else the first one of downstream's that can be made. `input` may be null.
/// False if downstream accepts none.
bool negotiate_output(GstVideoDecoder* decoder, const StreamInfo& stream,
                      GstVideoCodecState* input);

/// Lets the decoder's pool choose its strides if downstream knows GstVideoMeta.
void use_any_strides(GstQuery* query);

/// Copies the pixel aspect of the input to the JFIF header. JFIF's densities have 16 bits; a larger
/// one is left to the container.
void set_pixel_aspect(EncodeParams& params, const GstVideoInfo& info) noexcept;

/// Sets the output caps and the latency of an encoder with `lanes` lanes.
void announce_output(GstVideoEncoder* encoder, GstVideoCodecState* input,
                     const EncodeParams& params, int lanes);

}  // namespace zerorun::gst
