// What an input has beside its samples, and what becomes of it in an output: each fact is kept,
// converted, or left out. One table says which output holds which fact.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "zerorun/content.hpp"
#include "zerorun/source.hpp"

namespace zerorun::io {

enum class Fact : std::uint8_t {
  further_video,
  sound,
  sound_delay,
  subtitles,
  attachments,
  cover,
  data,
  chapters,
  tags,
  titles,
  languages,
  timecode,
  field_order,
  stereo_mode,
  rotation,
  pixel_aspect,
  times,
  primaries,
  transfer,
  matrix,
  alpha,
  depth,
  pages,
  inks,
  density,
  texts,
  colours,
};

/// "further_video", "sound", ...
ZERORUN_API const char* name(Fact fact) noexcept;

struct SourceFact {
  Fact fact = Fact::sound;
  std::string what;   ///< for a sentence: "the sound (aac)", "2 chapters"
  std::string value;  ///< that an output may hold or not: a codec, a key, a language, a colour
};

/// Everything that `info` declares.
ZERORUN_API std::vector<SourceFact> facts_of(const SourceInfo& info);

/// What the user chose, and what the command does.
struct LedgerChoices {
  bool sound = true, streams = true, metadata = true;
  bool is_coded = true;     ///< the samples become JPEG or pictures; false: packets are copied
  bool is_readable = true;  ///< INPUT is a file, so that its other streams can be read as well
  bool has_options = true;  ///< the command has --audio and --streams
  bool by_profile = false;  ///< colours are converted by the profile of INPUT
};

enum class Fate : std::uint8_t { kept, converted, left_out };

/// "kept", "converted", "left out".
ZERORUN_API const char* name(Fate fate) noexcept;

struct LedgerEntry {
  SourceFact fact;
  Fate fate = Fate::kept;
  std::string option = {};  ///< that decides; empty if there is none
  bool is_meant = false;    ///< the user has chosen it by that option
};

/// Compares what the source has with what the output holds.
ZERORUN_API std::vector<LedgerEntry> compare(const std::vector<SourceFact>& facts,
                                             const Location& output, const LedgerChoices& choices);

/// What is lost though nobody asked for that: "there is no place for 2 chapters and the sound (aac)
/// of in.mkv, left out here (.mkv keeps it)". Empty if nothing is.
ZERORUN_API std::string losses_text(const std::vector<LedgerEntry>& ledger,
                                    const std::string& input, const LedgerChoices& choices);

}  // namespace zerorun::io
