// Whether the index of an AVI file tells the truth about its video chunks.
// SPDX-License-Identifier: MIT
#pragma once

#include "io/byte_reader.hpp"
#include "io/ffmpeg/av.hpp"

namespace zerorun::io::av {

/// True if following the index would lose or invent packets: an entry lies outside of the file or
/// inside another chunk, points at something else, or chunks are there that no entry names.
/// `stream` is the video stream of an AVI demuxer with the index loaded, `file` the same file.
/// Chunk headers are read for a sample of the entries, and for all chunks if the header of the file
/// counts more frames than the index has.
bool avi_index_lies(AVStream& stream, const ByteReader& file);

}  // namespace zerorun::io::av
