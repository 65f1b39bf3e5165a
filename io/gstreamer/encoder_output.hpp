// What zerorunenc says about its stream: in its header, downstream, and about its latency.
// SPDX-License-Identifier: MIT
#pragma once

#include <gst/video/gstvideoencoder.h>

#include "zerorun/encoder.hpp"

namespace zerorun::gst {

/// JFIF's densities are 16 bits; what does not fit is left to the container.
void set_pixel_aspect(EncodeParams& params, const GstVideoInfo& info) noexcept;

/// Sets the output caps and the latency of an encoder of so many lanes.
void announce_output(GstVideoEncoder* encoder, GstVideoCodecState* input,
                     const EncodeParams& params, int lanes);

}  // namespace zerorun::gst
