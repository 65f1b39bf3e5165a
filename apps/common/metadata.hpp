// Files that go into the streams: quantisation tables, EXIF, ICC profile; and comments.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "zerorun/encoder.hpp"

namespace zerorun::app {

/// Text as for cjpeg's -qtables: 64 or 128 whole numbers 1..255 in row order; # starts a comment.
/// The first table is for luma, the second for chroma; a single one is for both. Ends the command
/// with exit 3 on anything else.
std::pair<QuantTable, QuantTable> read_quant_tables(const std::string& path);

MarkerSegment comment_segment(const std::string& text);

/// APP1. The file is a TIFF structure ("II*\0", "MM\0*"), the same after "Exif\0\0", or a JPEG
/// file with EXIF.
MarkerSegment exif_segment(const std::string& path);

/// APP2 segments of at most 65519 profile bytes each (ICC.1 B.4). The file is an ICC profile, or a
/// JPEG file with one.
std::vector<MarkerSegment> icc_segments(const std::string& path);

}  // namespace zerorun::app
