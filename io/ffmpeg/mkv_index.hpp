// The time of every frame of a Matroska file, by the headers of its blocks.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "io/byte_reader.hpp"

namespace zerorun::io::av {

/// Matroska's cues list some frames, and only in files that were finished. This walks from header
/// to header and reads some 32 bytes a frame. Times are in ticks of TimestampScale, as written, in
/// rising order. nullopt for what it does not follow: damage, lacing, no or several video tracks,
/// times that are equal or fall.
std::optional<std::vector<std::int64_t>> mkv_frame_times(const ByteReader& file);

}  // namespace zerorun::io::av
