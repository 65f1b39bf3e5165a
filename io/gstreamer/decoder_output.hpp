// What zerorundec announces downstream.
// SPDX-License-Identifier: MIT
#pragma once

#include <gst/video/gstvideodecoder.h>

#include "zerorun/decoder.hpp"

namespace zerorun::gst {

/// Announces size and format of the stream where they are new: the stream's own format if
/// downstream takes it, else downstream's first that can be made. `input` may be null. False where
/// downstream takes none.
bool negotiate_output(GstVideoDecoder* decoder, const StreamInfo& stream,
                      GstVideoCodecState* input);

}  // namespace zerorun::gst
