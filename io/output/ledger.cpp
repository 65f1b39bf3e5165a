// What an input has beside its samples, and what becomes of it in an output.
// SPDX-License-Identifier: MIT
#include "zerorun/ledger.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <string_view>
#include <utility>

#include "io/base/location.hpp"
#include "io/output/sinks.hpp"
#include "zerorun/io.hpp"

namespace zerorun::io {
namespace {

/// What an output holds: k kept, c converted, - left out, v by the fact's value, . nothing to say.
struct Row {
  const char* word;
  std::string_view fates;  // mov mp4 mkv avi mjpeg jpg y4m raw pictures
  const char* option;      // of copy and encode
};
enum Column : std::size_t { kRawMjpeg = 4, kJpeg, kY4m, kRaw, kPictures };  // after the muxers
constexpr Row kRows[] = {
    {"further_video", "---------", "--streams"},  //
    {"sound", "vvvv-----", "--audio"},            //
    {"sound_delay", "kkkv.....", "--audio"},      // without sound there is no delay
    {"subtitles", "vvvv-----", "--streams"},      //
    {"attachments", "--k------", "--streams"},    //
    {"cover", "---------", "--streams"},          //
    {"data", "---------", "--streams"},           //
    {"chapters", "kkk------", "--metadata"},      //
    {"tags", "kkkv-----", "--metadata"},          //
    {"titles", "cckk-----", "--metadata"},        // MOV and MP4: the name of the track's handler
    {"languages", "vkk------", "--metadata"},     //
    {"timecode", "kkkk-----", "--metadata"},      //
    {"field_order", "kkk---k-.", ""},             //
    {"stereo_mode", "kkk------", ""},             //
    {"rotation", "kk...c--c", ""},                // the sinks of other videos say it themselves
    {"pixel_aspect", "kkkkkkk--", ""},            // also in the JPEG streams
    {"times", "kkk..-..-", ""},                   // other videos need --fps
    {"primaries", "kkk------", ""},               //
    {"transfer", "kkk------", ""},                //
    {"matrix", "kkk------", ""},                  // of copied packets
    {"alpha", "---------", "--alpha"},            //
    {"depth", "ccccccccc", "--dither"},           //
    {"pages", "---------", ""},
    {"inks", "kkkkkkccc", ""},               // of copied packets
    {"density", "cccccv--v", "--metadata"},  // in the JPEG streams
    {"texts", "cccccc--v", "--metadata"},    // in the JPEG streams, as comments
    {"colours", "--------v", ""},
};

static_assert(std::size(kRows) == static_cast<std::size_t>(Fact::colours) + 1 &&
              std::ranges::all_of(kRows, [](const Row& row) {
                return row.fates.size() == kPictures + 1;
              }));

constexpr const char* kUntaken = "untaken";  // SourceFact::value of texts: no comment has it

/// The column of an output in kRows; nullopt for outputs that keep nothing.
std::optional<std::size_t> column_of(const Location& output) {
  if (is_measuring_output(output)) return std::nullopt;
  const std::string format = format_of(output);
  const std::string muxer = container_muxer(format);
  constexpr std::array<std::string_view, 4> kMuxers{"mov", "mp4", "matroska", "avi"};
  const auto* const found = std::find(kMuxers.begin(), kMuxers.end(), muxer);
  if (found != kMuxers.end()) return static_cast<std::size_t>(found - kMuxers.begin());
  if (is_jpeg_file(format)) return kJpeg;
  if (format == "y4m") return kY4m;
  if (is_raw_video(format)) return kRaw;
  return needs_opencv(format) || is_pnm_output(format) ? kPictures : kRawMjpeg;
}

/// Where a file says nothing, players take these.
bool is_assumed(std::string_view colour) noexcept {
  return colour == "bt709" || colour == "smpte170m" || colour == "bt470bg" ||
         colour == "iec61966-2-1" || colour == "bt470m";
}

/// The tags of a RIFF INFO list, by FFmpeg's names.
bool is_riff_tag(const std::string& key) {
  constexpr std::string_view kKeys[] = {"artist", "comment",  "copyright", "date",
                                        "genre",  "language", "title",     "album",
                                        "track",  "timecode", "encoder",   "encoded_by"};
  return std::ranges::find(kKeys, lower_case(key)) != std::end(kKeys);
}

Fate fate_by_value(const SourceFact& fact, std::size_t column, const std::string& format) {
  if (fact.fact == Fact::texts || fact.fact == Fact::colours)
    return format == "png" ? Fate::kept : Fate::left_out;
  if (fact.fact == Fact::density)  // JFIF's numbers have 16 bits
    return (column == kJpeg ? fact.value.empty() : can_embed(format) && format != "webp")
               ? Fate::kept
               : Fate::left_out;
  if (fact.fact == Fact::tags) return is_riff_tag(fact.value) ? Fate::kept : Fate::left_out;
  if (fact.fact == Fact::sound_delay)  // silence in front of it
    return fact.value.starts_with("pcm_") ? Fate::converted : Fate::left_out;
  return container_holds(container_muxer(format), fact) ? Fate::kept : Fate::left_out;
}

bool is_stream(Fact fact) noexcept {
  return fact == Fact::sound || fact == Fact::subtitles || fact == Fact::attachments;
}

/// Whether the user has chosen to leave it out.
bool is_refused(const Row& row, const LedgerChoices& choices) noexcept {
  const std::string_view option = row.option;
  return (option == "--audio" && !choices.sound) || (option == "--streams" && !choices.streams) ||
         (option == "--metadata" && !choices.metadata);
}

Fate fate_of(const SourceFact& fact, std::size_t column, const std::string& format,
             const LedgerChoices& choices) {
  if (fact.value == kUntaken && column != kPictures) return Fate::left_out;
  if (fact.fact == Fact::density && !choices.is_coded) return Fate::kept;
  if (is_stream(fact.fact) && !choices.is_readable) return Fate::left_out;
  if ((fact.fact == Fact::matrix || fact.fact == Fact::inks) && choices.is_coded)
    return Fate::converted;
  const char mark = kRows[static_cast<std::size_t>(fact.fact)].fates[column];
  if (mark == 'v') return fate_by_value(fact, column, format);
  if (mark == 'c') return Fate::converted;
  const bool is_colour =
      fact.fact == Fact::primaries || fact.fact == Fact::transfer || fact.fact == Fact::matrix;
  return mark == '-' && !(is_colour && is_assumed(fact.value)) ? Fate::left_out : Fate::kept;
}

void add(std::vector<SourceFact>& facts, Fact fact, std::string what, std::string value = {}) {
  facts.push_back({fact, std::move(what), std::move(value)});
}

void add_streams(const ContainerContent& content, std::vector<SourceFact>& facts) {
  constexpr std::pair<Fact, const char*> kKinds[] = {
      {Fact::further_video, "a further video stream"},
      {Fact::sound, "the sound"},
      {Fact::subtitles, "the subtitles"},
      {Fact::attachments, "the attachment"},
      {Fact::cover, "the cover picture"},
      {Fact::data, "a data stream"}};
  for (const StreamContent& stream : content.streams) {
    const auto& [fact, words] = kKinds[static_cast<std::size_t>(stream.kind)];
    std::string what = std::string(words) + " (" + stream.codec;
    if (!stream.language.empty()) what += ", " + stream.language;
    add(facts, fact, what + ")", stream.codec);
    if (stream.kind == StreamKind::sound && stream.delay_seconds > 0.001)
      add(facts, Fact::sound_delay,
          "the delay of the sound by " +
              std::to_string(static_cast<int>(stream.delay_seconds * 1000 + 0.5)) + " ms",
          stream.codec);
    if (!stream.title.empty()) add(facts, Fact::titles, "the title '" + stream.title + "'");
    if (!stream.language.empty())
      add(facts, Fact::languages, "the language " + stream.language, stream.language);
  }
}

void add_video(const ContainerContent& content, std::vector<SourceFact>& facts) {
  for (const auto& [key, value] : content.stream_tags) {
    if (key == "title") add(facts, Fact::titles, "the title '" + value + "'");
    if (key == "language" && value != "und")
      add(facts, Fact::languages, "the language " + value, value);
  }
  if (!content.timecode.empty()) add(facts, Fact::timecode, "the time code " + content.timecode);
  if (content.field_order == FieldOrder::top_first ||
      content.field_order == FieldOrder::bottom_first)
    add(facts, Fact::field_order, std::string("the field order ") + name(content.field_order));
  if (!content.stereo_mode.empty())
    add(facts, Fact::stereo_mode, "the stereo layout " + content.stereo_mode);
  const auto colour = [&facts](Fact fact, const std::string& value) {
    if (!value.empty())
      add(facts, fact, std::string("the colour ") + name(fact) + " " + value, value);
  };
  colour(Fact::primaries, content.primaries);
  colour(Fact::transfer, content.transfer);
  colour(Fact::matrix, content.matrix);
}

/// "a, b and c".
std::string list_text(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i)
    text += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + words[i];
  return text;
}

/// "300", "118.11".
std::string number_text(double value) {
  std::string text = std::to_string(std::round(value * 100) / 100);
  text.erase(text.find_last_not_of('0') + 1);
  return text.ends_with('.') ? text.substr(0, text.size() - 1) : text;
}

void add_density(const Density& density, std::vector<SourceFact>& facts) {
  if (!density.known()) return;
  std::string text = "the density of " + number_text(density.x);
  if (density.y != density.x) text += "x" + number_text(density.y);
  text += density.unit == Density::Unit::inch ? " dpi" : " pixels a centimetre";
  add(facts, Fact::density, text, std::max(density.x, density.y) < 65535.5 ? "" : "large");
}

/// What PNG files have beside EXIF, XMP and profiles.
void add_picture(const PictureContent& picture, std::vector<SourceFact>& facts) {
  for (const char* const value : {"", kUntaken}) {
    std::vector<std::string> keywords;
    for (const auto& [keyword, text] : picture.texts)
      if (text.empty() == (value == kUntaken)) keywords.push_back("'" + keyword + "'");
    const std::string names =
        keywords.size() > 4
            ? std::to_string(keywords.size()) + " texts"
            : (keywords.size() == 1 ? "the text " : "the texts ") + list_text(keywords);
    if (!keywords.empty()) add(facts, Fact::texts, names, value);
  }
  if (picture.has_other_colours)
    add(facts, Fact::colours, "the gamma and the primaries (gAMA, cHRM)");
}

/// Things that are lost, each once; the tags together.
std::vector<std::string> lost_things(const std::vector<LedgerEntry>& lost) {
  std::vector<std::string> things, keys;
  for (const LedgerEntry& entry : lost) {
    if (entry.fact.fact == Fact::tags)
      keys.push_back(entry.fact.value);
    else if (std::find(things.begin(), things.end(), entry.fact.what) == things.end())
      things.push_back(entry.fact.what);
  }
  constexpr std::size_t kNamed = 4;
  if (keys.size() > kNamed)
    things.push_back(std::to_string(keys.size()) + " tags");
  else if (!keys.empty())
    things.push_back((keys.size() == 1 ? "the tag " : "the tags ") + list_text(keys));
  return things;
}

/// The containers that keep all of it: ".mov", ".mkv"; of decode PNG alone if that does.
std::vector<std::string> keepers(const std::vector<LedgerEntry>& lost,
                                 const LedgerChoices& choices) {
  std::vector<std::string> found;
  for (const char* const container : {"png", "mov", "mp4", "mkv"}) {
    if (choices.has_options ? *container == 'p' : !found.empty() && found[0] == ".png") continue;
    const Location output{std::string("x.") + container, {}, {}};
    const std::size_t column = *column_of(output);
    const auto keeps = [&](const LedgerEntry& entry) {
      const bool is_there = *container != 'p' || entry.fact.fact >= Fact::density;  // of pictures
      return is_there && kRows[static_cast<std::size_t>(entry.fact.fact)].fates[column] != '.' &&
             fate_of(entry.fact, column, container, choices) != Fate::left_out;
    };
    if (std::all_of(lost.begin(), lost.end(), keeps)) found.push_back("." + std::string(container));
  }
  return found;
}

}  // namespace

#ifndef ZERORUN_HAVE_FFMPEG
bool container_holds(const std::string&, const SourceFact&) { return false; }
#endif

const char* name(Fact fact) noexcept { return kRows[static_cast<std::size_t>(fact)].word; }

const char* name(Fate fate) noexcept {
  return fate == Fate::kept ? "kept" : fate == Fate::converted ? "converted" : "left out";
}

std::vector<SourceFact> facts_of(const SourceInfo& info) {
  std::vector<SourceFact> facts;
  const ContainerContent& content = info.content;
  add_video(content, facts);
  add_streams(content, facts);
  if (const std::size_t count = content.chapters.size(); count > 0)
    add(facts, Fact::chapters, std::to_string(count) + (count == 1 ? " chapter" : " chapters"));
  for (const auto& [key, value] : content.tags) add(facts, Fact::tags, "the tag " + key, key);
  if (info.sample_aspect.known() && info.sample_aspect.num != info.sample_aspect.den)
    add(facts, Fact::pixel_aspect,
        "the shape of the pixels " + std::to_string(info.sample_aspect.num) + ":" +
            std::to_string(info.sample_aspect.den));
  if (info.rotation_degrees != 0 || info.mirrored)
    add(facts, Fact::rotation,
        info.rotation_degrees == 0
            ? "mirroring"
            : "the rotation by " + std::to_string(info.rotation_degrees) + " degrees");
  if (info.variable_frame_rate) add(facts, Fact::times, "the times of the frames");
  const bool is_picture = info.picture != nullptr;
  if (is_picture ? info.picture->has_alpha : content.has_alpha)
    add(facts, Fact::alpha, "the alpha channel");
  if (const int bits = is_picture ? info.picture->bits : content.bits; bits > 8)
    add(facts, Fact::depth, std::to_string(bits) + " bits a sample");
  if (is_picture && info.picture->pages > 1)
    add(facts, Fact::pages,
        std::to_string(info.picture->pages - 1) +
            (info.picture->pages == 2 ? " further picture" : " further pictures") +
            (info.is_jpeg ? " (a gain map, a preview) in the first file"
                          : " in the first file, which --page N or a pattern takes"));
  add_density(info.density, facts);
  if (is_picture) add_picture(*info.picture, facts);
  if (!info.inks.empty()) add(facts, Fact::inks, "the inks (" + info.inks + ")", info.inks);
  return facts;
}

std::vector<LedgerEntry> compare(const std::vector<SourceFact>& facts, const Location& output,
                                 const LedgerChoices& choices) {
  std::vector<LedgerEntry> ledger;
  const auto column = column_of(output);
  if (!column) return ledger;
  const std::string format = format_of(output);
  bool is_stream_lost = false;  // then its delay, title and language go with it
  for (const SourceFact& fact : facts) {
    const Row& row = kRows[static_cast<std::size_t>(fact.fact)];
    if (row.fates[*column] == '.') continue;
    const bool is_meant = is_refused(row, choices);
    const bool is_of_stream =
        fact.fact == Fact::sound_delay || fact.fact == Fact::titles || fact.fact == Fact::languages;
    if (is_stream_lost && is_of_stream) continue;
    const bool is_lost = is_meant || fate_of(fact, *column, format, choices) == Fate::left_out;
    is_stream_lost = is_lost && fact.fact <= Fact::data && !is_of_stream;
    ledger.push_back({fact, is_meant ? Fate::left_out : fate_of(fact, *column, format, choices),
                      row.option, is_meant});
  }
  return ledger;
}

std::string losses_text(const std::vector<LedgerEntry>& ledger, const std::string& input,
                        const LedgerChoices& choices) {
  std::vector<LedgerEntry> lost;
  std::vector<std::string> options;
  bool loses_streams = false;
  for (const LedgerEntry& entry : ledger) {
    if (entry.fate != Fate::left_out || entry.is_meant || entry.fact.fact == Fact::alpha) continue;
    lost.push_back(entry);
    loses_streams |= is_stream(entry.fact.fact);
    const std::string option = entry.option.empty() ? "" : entry.option + " none";
    if (!option.empty() && std::find(options.begin(), options.end(), option) == options.end())
      options.push_back(option);
  }
  if (lost.empty()) return {};
  std::string text =
      "there is no place for " + list_text(lost_things(lost)) + " of " + input + ", left out here";
  std::vector<std::string> advice;
  if (loses_streams && !choices.is_readable)
    advice.push_back("a pipe is read once: only a file gives its other streams");
  else if (const auto containers = keepers(lost, choices); !containers.empty())
    advice.push_back(
        (choices.has_options || containers[0] == ".png" ? "" : "`zerorun encode` to ") +
        list_text(containers) +
        (containers.size() == 1 || !choices.has_options ? " keeps it" : " keep it"));
  if (!options.empty() && choices.has_options)
    advice.push_back(list_text(options) + " if that is meant");
  for (std::size_t i = 0; i < advice.size(); ++i) text += (i == 0 ? " (" : "; ") + advice[i];
  return text + (advice.empty() ? "" : ")");
}

}  // namespace zerorun::io
