// Files that go into the streams: quantisation tables, EXIF, ICC profile; and comments.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "zerorun/encoder.hpp"

namespace zerorun::app {

/// Text as cjpeg's -qtables: 64 or 128 whole numbers 1..255 in row order, # starts a comment. The
/// first table is luma's, the second chroma's (without it the first serves both). They are used
/// as they are. Ends the command with exit 3 on anything else.
std::pair<QuantTable, QuantTable> read_quant_tables(const std::string& path);

MarkerSegment comment_segment(const std::string& text);

/// APP1. The file is a TIFF structure ("II*\0", "MM\0*"), the same after "Exif\0\0", or a JPEG
/// file whose EXIF is taken.
MarkerSegment exif_segment(const std::string& path);

/// APP1 with nothing but EXIF's orientation, which turns the picture clockwise by 90, 180 or 270
/// degrees when it is shown.
MarkerSegment orientation_segment(int degrees);

/// APP2 segments of at most 65519 profile bytes each (ICC.1 B.4). The file is an ICC profile, or a
/// JPEG file whose profile is taken.
std::vector<MarkerSegment> icc_segments(const std::string& path);

}  // namespace zerorun::app
