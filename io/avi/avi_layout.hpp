// The headers and indices of an AVI file that is written.
//
// OpenDML AVI 2.0: RIFF lists of at most 1 GB, each with an index chunk of its own that "indx" in
// the headers names, and an "idx1" in the first one for readers that know no other.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "zerorun/sink.hpp"

namespace zerorun::io {

/// The chunk of a picture.
inline constexpr std::string_view kAviPicture = "00dc";
/// As FFmpeg's writer has it.
inline constexpr std::size_t kMostAviRiffs = 256;

struct AviSegment {
  std::int64_t riff = 0, movi = 0;  // where the sizes of the two lists stand
  std::int64_t index = 0;           // the index chunk
  std::int64_t index_bytes = 0;
  std::uint32_t chunks = 0;
};

struct AviChunkPlace {
  std::uint32_t offset;  // of the data, from AviSegment::movi
  std::uint32_t bytes;
};

/// Known only at the end of the recording.
struct AviTotals {
  std::uint32_t chunks = 0;
  std::uint32_t largest = 0;  // chunk
};

/// From "RIFF" to the header of "movi". The headers have the same length whatever the totals are.
std::vector<std::byte> avi_headers(const SinkOptions& options, Rational rate,
                                   const AviTotals& totals,
                                   const std::vector<AviSegment>& segments);

/// AVISTDINDEX of one list. Offsets count from the size of "movi".
std::vector<std::byte> avi_index_chunk(const AviSegment& segment,
                                       const std::vector<AviChunkPlace>& places);

/// "idx1" of the first list. Its offsets count from the type of "movi", and are those of the
/// chunks' headers.
std::vector<std::byte> avi_first_index(const std::vector<AviChunkPlace>& places);

}  // namespace zerorun::io
