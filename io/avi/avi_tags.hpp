// Tags of RIFF files (INFO lists) and the generic keys that FFmpeg has for them.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <string_view>

namespace zerorun::io {

struct AviTag {
  std::string_view id, key;
};
/// As libavformat's table; a time code is not among ContainerContent::tags.
inline constexpr std::array kAviTags{
    AviTag{"IART", "artist"},     AviTag{"ICMT", "comment"}, AviTag{"ICOP", "copyright"},
    AviTag{"ICRD", "date"},       AviTag{"IGNR", "genre"},   AviTag{"ILNG", "language"},
    AviTag{"INAM", "title"},      AviTag{"IPRD", "album"},   AviTag{"IPRT", "track"},
    AviTag{"ITCH", "encoded_by"},
};
inline constexpr std::string_view kAviTimecode = "ISMP";

}  // namespace zerorun::io
