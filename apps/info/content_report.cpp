// What `zerorun info` tells beside sizes.
// SPDX-License-Identifier: MIT
#include "apps/info/content_report.hpp"

#include <fmt/core.h>

#include <utility>
#include <vector>

#include "apps/common/ledger.hpp"
#include "apps/common/text.hpp"
#include "zerorun/content.hpp"

namespace zerorun::app {
namespace {

using Json = nlohmann::ordered_json;

/// Bits of a sample, by the picture, the frame header or the container; 0 = not known.
int bits_of(const InputFacts& facts) {
  if (facts.kind) return facts.kind->bits;
  return facts.picture.bits > 0 ? facts.picture.bits : facts.source.content.bits;
}

/// JFIF is full range and BT.601 by definition, whatever a container says.
std::string range_of(const InputFacts& facts) {
  if (facts.kind) return "full";
  const std::string& range = facts.source.content.range;
  return range == "pc" ? "full" : range == "tv" ? "limited" : "";
}

std::string matrix_of(const InputFacts& facts) {
  if (facts.kind) return facts.kind->color == "YCbCr" ? "bt601" : "";
  return facts.source.content.matrix;
}

bool has_alpha(const InputFacts& facts) {
  return facts.picture.has_alpha || facts.source.content.has_alpha;
}

std::string samples_text(const InputFacts& facts) {
  std::vector<std::string> parts;
  if (const int bits = bits_of(facts); bits > 0) parts.push_back(fmt::format("{} bits", bits));
  if (has_alpha(facts)) parts.push_back("with alpha");
  if (const std::string range = range_of(facts); !range.empty()) parts.push_back(range + " range");
  if (const std::string matrix = matrix_of(facts); !matrix.empty())
    parts.push_back("matrix " + matrix);
  if (const std::string& transfer = facts.source.content.transfer; !transfer.empty())
    parts.push_back("transfer " + transfer);
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

/// Facts that have no row of their own.
bool is_listed(io::Fact fact) noexcept {
  using enum io::Fact;
  return fact == further_video || fact == sound || fact == sound_delay || fact == subtitles ||
         fact == attachments || fact == cover || fact == data || fact == chapters || fact == pages;
}

std::string exif_text(const std::vector<std::pair<std::string, std::string>>& facts) {
  std::string text;
  for (const auto& [label, value] : facts)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", label, value);
  return text;
}

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

}  // namespace

/// Tags come from the file, which must not steer the terminal: a point for each control character
/// of ASCII and of UTF-8 (C2 80 to C2 9F).
static std::string without_controls(std::string_view text) {
  std::string plain;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_c1 = byte >= 0x80 && byte < 0xA0 && !plain.empty() && plain.back() == '\xC2';
    if (is_c1) plain.pop_back();
    plain += byte < 0x20 || byte == 0x7F || is_c1 ? '.' : c;
  }
  return plain;
}

std::string report_row(std::string_view label, const std::string& text) {
  return fmt::format("  {:<12} {}\n", without_controls(label), without_controls(text));
}

std::string kind_text(const io::JpegKind& kind) {
  return fmt::format("{}, {}, {}x{}, {} bits", kind.process, kind.color, kind.width, kind.height,
                     kind.bits);
}

std::string content_text(const InputFacts& facts) {
  const io::ContainerContent& content = facts.source.content;
  std::string text;
  if (const std::string samples = samples_text(facts); !samples.empty())
    text += report_row("samples", samples);
  if (content.field_order != io::FieldOrder::unknown &&
      content.field_order != io::FieldOrder::progressive)
    text += report_row(
        "fields", fmt::format("interlaced, {} ({} first)", name(content.field_order),
                              content.field_order == io::FieldOrder::top_first ? "top" : "bottom"));
  if (!content.stereo_mode.empty()) text += report_row("stereo", content.stereo_mode);
  if (!content.timecode.empty()) text += report_row("time code", content.timecode);
  for (const auto& [key, value] : content.tags) text += report_row(key, value);
  for (const io::SourceFact& fact : io::facts_of(facts.source))
    if (is_listed(fact.fact)) text += report_row(name(fact.fact), fact.what);
  if (!facts.picture.icc.empty())
    text += report_row("ICC profile", fmt::format("{} bytes  {}", facts.picture.icc.size(),
                                                  io::profile_name(facts.picture.icc)));
  if (!facts.picture.exif.empty())
    text += report_row("EXIF", fmt::format("{} bytes  {}", facts.picture.exif.size(),
                                           exif_text(io::exif_summary(facts.picture.exif))));
  if (!facts.picture.xmp.empty())
    text += report_row("XMP", fmt::format("{} bytes", facts.picture.xmp.size()));
  return text;
}

void add_content(const InputFacts& facts, Json& json) {
  const io::ContainerContent& content = facts.source.content;
  const int bits = bits_of(facts);
  json["bits"] = bits > 0 ? Json(bits) : Json();
  json["alpha"] = has_alpha(facts);
  json["range"] = text_or_null(range_of(facts));
  json["matrix"] = text_or_null(matrix_of(facts));
  json["transfer"] = text_or_null(content.transfer);
  json["field_order"] = name(content.field_order);
  json["timecode"] = text_or_null(content.timecode);
  json["stereo_mode"] = text_or_null(content.stereo_mode);
  json["primaries"] = text_or_null(content.primaries);
  json["facts"] = facts_json(facts.source);
  json["tags"] = Json::object();
  for (const auto& [key, value] : content.tags) json["tags"][key] = value;
  json["icc"] = facts.picture.icc.empty() ? Json()
                                          : Json({{"bytes", facts.picture.icc.size()},
                                                  {"name", io::profile_name(facts.picture.icc)}});
  json["exif"] = Json();
  if (!facts.picture.exif.empty()) {
    json["exif"] = {{"bytes", facts.picture.exif.size()}};
    for (const auto& [label, value] : io::exif_summary(facts.picture.exif))
      json["exif"][label] = value;
  }
  json["xmp_bytes"] = facts.picture.xmp.size();
  if (facts.kind)
    json["jpeg_kind"] = {{"process", facts.kind->process}, {"color", facts.kind->color},
                         {"width", facts.kind->width},     {"height", facts.kind->height},
                         {"bits", facts.kind->bits},       {"components", facts.kind->components}};
}

}  // namespace zerorun::app
