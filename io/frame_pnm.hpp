// One PBM, PGM or PPM image.
// SPDX-License-Identifier: MIT
#pragma once

#include "io/byte_reader.hpp"
#include "zerorun/frame.hpp"

namespace zerorun::io {

/// Reads one image (P1 to P6) into gray8 or rgb24 and leaves the reader behind it.
/// Errors: bad_input, too_many_pixels, read_failed, out_of_memory.
Status read_pnm(ByteReader& reader, Frame& frame);

}  // namespace zerorun::io
