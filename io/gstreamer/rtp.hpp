// What a payloader for RFC 2435 behind the encoder asks for.
// SPDX-License-Identifier: MIT
#pragma once

#include <gst/video/video.h>

#include "zerorun/encoder.hpp"

namespace zerorun::gst {

/// Where rtpjpegpay follows `encoder`: choices that are left to the element ("auto" sampling)
/// become what RFC 2435 carries, and a warning is posted about those that it cannot.
void fit_to_payloader(GstElement* encoder, EncodeParams& params, PixelFormat format);

}  // namespace zerorun::gst
