// The headers of an AVI file, up to its pictures.
//
// AVI is a RIFF file: a list of headers ("hdrl") with a list for each stream ("strl"), then the
// chunks of all streams ("movi"), then an index ("idx1"). OpenDML's extension of 1996 allows more
// than 1 GB: further RIFF lists ("AVIX") follow, and each stream's "indx" names an index chunk in
// each of them.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/byte_reader.hpp"
#include "zerorun/content.hpp"

namespace zerorun::io {

/// Where "indx" says that an index chunk is.
struct AviIndexPart {
  std::uint64_t offset = 0;
  std::uint32_t bytes = 0;
};

/// The first video stream.
struct AviVideo {
  int stream = -1;    ///< its number; -1: there is none
  std::string codec;  ///< four characters
  int width = 0, height = 0;
  Rational rate;                    ///< chunks a second
  std::uint64_t chunks = 0;         ///< by the header; 0 = it does not say
  Rational frame_aspect;            ///< of the whole picture ("vprp"); unknown if it does not say
  std::vector<AviIndexPart> index;  ///< of OpenDML
};

struct AviHeader {
  AviVideo video;
  bool has_audio = false;
  ContainerContent content;      ///< tags and time code
  std::uint64_t riff_bytes = 0;  ///< of the file, by its first chunk; 0 = it was not finished
  std::uint64_t movi = 0;        ///< offset of the first chunk in "movi"
  std::uint32_t movi_bytes = 0;  ///< of the list, with its type
};

/// `reader` stands at the first byte and is left at AviHeader::movi.
/// Errors: bad_input (no AVI, or it ends in its headers), unknown_format (no video), read_failed.
Result<AviHeader> read_avi_header(ByteReader& reader);

}  // namespace zerorun::io
