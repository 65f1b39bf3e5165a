// SPDX-License-Identifier: MIT
#include "apps/info/info_report.hpp"

#include <fmt/core.h>

#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/common/content.hpp"
#include "apps/common/figures.hpp"
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
         fact == attachments || fact == cover || fact == data || fact == chapters ||
         fact == pages || fact == density || fact == texts || fact == colours;
}

std::string exif_text(const std::vector<std::pair<std::string, std::string>>& facts) {
  std::string text;
  for (const auto& [label, value] : facts)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", label, value);
  return text;
}

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

/// Tags come from the file, which must not steer the terminal: a point for each control character
/// of ASCII and of UTF-8 (C2 80 to C2 9F).
std::string without_controls(std::string_view text) {
  std::string plain;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_c1 = byte >= 0x80 && byte < 0xA0 && !plain.empty() && plain.back() == '\xC2';
    if (is_c1) plain.pop_back();
    plain += byte < 0x20 || byte == 0x7F || is_c1 ? '.' : c;
  }
  return plain;
}

std::string row(std::string_view label, const std::string& text) {
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
    text += row("samples", samples);
  if (content.field_order != io::FieldOrder::unknown &&
      content.field_order != io::FieldOrder::progressive)
    text += row("fields",
                fmt::format("interlaced, {} ({} first)", name(content.field_order),
                            content.field_order == io::FieldOrder::top_first ? "top" : "bottom"));
  if (!content.stereo_mode.empty()) text += row("stereo", content.stereo_mode);
  if (!content.timecode.empty()) text += row("time code", content.timecode);
  for (const auto& [key, value] : content.tags) text += row(key, value);
  for (const io::SourceFact& fact : io::facts_of(facts.source))
    if (is_listed(fact.fact)) text += row(name(fact.fact), fact.what);
  if (!facts.picture.icc.empty())
    text += row("ICC profile", fmt::format("{} bytes  {}", facts.picture.icc.size(),
                                           io::profile_name(facts.picture.icc)));
  if (!facts.picture.exif.empty())
    text += row("EXIF", fmt::format("{} bytes  {}", facts.picture.exif.size(),
                                    exif_text(io::exif_summary(facts.picture.exif))));
  if (!facts.picture.xmp.empty())
    text += row("XMP", fmt::format("{} bytes", facts.picture.xmp.size()));
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

const char* process_of(const StreamInfo& stream) {
  if (stream.progressive) return "progressive";
  return stream.extended ? "extended sequential" : "baseline";
}

std::string color_name(ColorModel color) {
  constexpr const char* kNames[] = {"gray", "YCbCr", "RGB", "CMYK", "inverted CMYK", "YCCK"};
  return kNames[static_cast<std::size_t>(color)];
}

/// "420"; sampling factors without a name as "3x1,1x1,1x1".
std::string sampling_text(const StreamInfo& stream) {
  if (stream.subsampling) return std::string(name(*stream.subsampling));
  std::string text;
  for (const ComponentInfo& c : stream.components)
    text += fmt::format("{}{}x{}", text.empty() ? "" : ",", c.h, c.v);
  return text;
}

/// APPn segments begin with a zero-terminated identifier; COM is text.
std::string segment_text(const MarkerSegment& segment) {
  const bool is_comment = segment.marker == 0xFE;
  std::string text;
  for (const std::uint8_t byte : segment.payload) {
    if ((byte == 0 && !is_comment) || text.size() == 60) break;
    text += byte >= 0x20 && byte < 0x7F ? static_cast<char>(byte) : '.';
  }
  return text;
}

std::string segment_name(const MarkerSegment& segment) {
  return segment.marker == 0xFE ? "COM" : fmt::format("APP{}", segment.marker - 0xE0);
}

Json or_null(bool is_known, const Json& value) { return is_known ? value : Json(); }
template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json stream_json(const InputFacts& facts) {
  const StreamInfo& s = *facts.stream;
  const int common = std::gcd(s.pixel_aspect_x, s.pixel_aspect_y);  // of densities
  Json json = {
      {"process", process_of(s)},
      {"width", s.width},
      {"height", s.height},
      {"color", color_name(s.color)},
      {"subsampling", sampling_text(s)},
      {"quality", or_null(s.quality)},
      {"scans", facts.scans},
      {"huffman", s.standard_huffman_tables ? "standard" : "own"},
      {"restart_interval_mcus", s.restart_interval_mcus},
      {"jfif", s.has_jfif},
      {"pixel_aspect", fmt::format("{}:{}", s.pixel_aspect_x / common, s.pixel_aspect_y / common)},
      {"exif_orientation", s.exif_orientation},
      {"bytes", facts.first_bytes},
      {"header_bytes", s.header_bytes}};
  json["components"] = Json::array();
  for (const ComponentInfo& c : s.components)
    json["components"].push_back({{"id", c.id},
                                  {"h", c.h},
                                  {"v", c.v},
                                  {"quant_table", c.quant_table},
                                  {"width", c.width},
                                  {"height", c.height}});
  json["segments"] = Json::array();
  for (const MarkerSegment& segment : s.segments)
    json["segments"].push_back({{"marker", segment_name(segment)},
                                {"bytes", segment.payload.size()},
                                {"text", segment_text(segment)}});
  return json;
}

std::string stream_text(const InputFacts& facts) {
  const StreamInfo& s = *facts.stream;
  std::string text = row("JPEG", fmt::format("{}, {} {}, {}x{}", process_of(s), color_name(s.color),
                                             sampling_text(s), s.width, s.height));
  text += row("quality", s.quality ? fmt::format("{} (tables of T.81 K.1 and K.2)", *s.quality)
                                   : "own quantisation tables");
  if (facts.scans != 1) text += row("scans", std::to_string(facts.scans));
  text += row("Huffman", s.standard_huffman_tables ? "standard tables" : "own tables");
  text += row("restart", s.restart_interval_mcus > 0
                             ? fmt::format("every {} MCUs", s.restart_interval_mcus)
                             : "none");
  text += row("first frame", fmt::format("{} bytes, {} of them headers",
                                         with_commas(static_cast<std::int64_t>(facts.first_bytes)),
                                         s.header_bytes));
  if (s.exif_orientation != 1)
    text += row("orientation", fmt::format("{} (EXIF)", s.exif_orientation));
  for (const MarkerSegment& segment : s.segments)
    text += row(segment_name(segment),
                fmt::format("{} bytes  {}", segment.payload.size(), segment_text(segment)));
  return text;
}

Json density_json(const io::Density& density) {
  if (!density.known()) return {};
  const bool is_inch = density.unit == io::Density::Unit::inch;
  return {{"x", density.x}, {"y", density.y}, {"unit", is_inch ? "inch" : "cm"}};
}

/// The number of frames is what the index of a container says; a file may say what it has not.
bool is_by_index(const InputFacts& facts) {
  const std::string& container = facts.source.container;
  const bool is_counted = facts.sizes || container.starts_with("image") || container == "y4m" ||
                          container == "raw video" || container == "pnm";
  return facts.frames() >= 0 && !is_counted;
}

/// Empty if the size is not known, as that of an unsupported JPEG stream.
std::string picture_text(const io::SourceInfo& s) {
  if (s.width == 0) return "";
  std::string text = fmt::format("{}x{}, {}", s.width, s.height, name(s.format));
  if (s.sample_aspect.known() && s.sample_aspect.num != s.sample_aspect.den)
    text += fmt::format(", pixels {}:{}", s.sample_aspect.num, s.sample_aspect.den);
  if (s.mirrored) text += ", shown mirrored left to right";
  if (s.rotation_degrees != 0)
    text += fmt::format(", {} rotated by {}", s.mirrored ? "then" : "shown", s.rotation_degrees);
  return row("picture", text);
}

}  // namespace

std::int64_t InputFacts::frames() const noexcept {
  return sizes ? sizes->count : source.frame_count;
}

std::optional<double> InputFacts::seconds() const noexcept {
  if (source.duration_seconds > 0) return source.duration_seconds;
  if (!source.frame_rate.known() || frames() < 0) return std::nullopt;
  return static_cast<double>(frames()) / source.frame_rate.value();
}

std::optional<double> InputFacts::bits_per_second() const noexcept {
  const auto duration = seconds();
  if (!duration || *duration <= 0) return std::nullopt;
  if (sizes) return 8.0 * static_cast<double>(sizes->total) / *duration;
  if (!file_bytes) return std::nullopt;
  return 8.0 * static_cast<double>(*file_bytes) / *duration;
}

nlohmann::ordered_json to_json(const InputFacts& facts) {
  const io::SourceInfo& s = facts.source;
  Json json = {{"name", facts.name},
               {"container", s.container},
               {"codec", s.codec},
               {"width", facts.kind && s.width == 0 ? facts.kind->width : s.width},
               {"height", facts.kind && s.height == 0 ? facts.kind->height : s.height},
               {"pixel_format", std::string(name(s.format))},
               {"frame_rate", or_null(s.frame_rate.known(), rational_text(s.frame_rate))},
               {"variable_frame_rate", s.variable_frame_rate},
               {"time_base", rational_text(s.time_base)},
               {"sample_aspect", fmt::format("{}:{}", s.sample_aspect.num, s.sample_aspect.den)},
               {"density", density_json(s.density)},
               {"rotation_degrees", s.rotation_degrees},
               {"mirrored", s.mirrored},
               {"frames", or_null(facts.frames() >= 0, facts.frames())},
               {"frames_by_index", is_by_index(facts)},
               {"seconds", or_null(facts.seconds())},
               {"file_bytes", or_null(facts.file_bytes)},
               {"bits_per_second", or_null(facts.bits_per_second())},
               {"audio", s.has_audio},
               {"missing_bytes", s.missing_bytes}};
  if (facts.sizes)
    json["packets"] = {{"count", facts.sizes->count},
                       {"bytes", facts.sizes->total},
                       {"smallest", facts.sizes->smallest},
                       {"largest", facts.sizes->largest}};
  add_content(facts, json);
  if (facts.stream) json["jpeg"] = stream_json(facts);
  if (!facts.stream_problem.empty()) json["jpeg_problem"] = facts.stream_problem;
  return json;
}

std::string to_text(const InputFacts& facts) {
  const io::SourceInfo& s = facts.source;
  std::string frames = facts.frames() >= 0 ? with_commas(facts.frames()) : "unknown";
  if (s.frame_rate.known())
    frames += fmt::format(", {} fps{}", rational_text(s.frame_rate),
                          s.variable_frame_rate ? " on average" : "");
  if (const auto seconds = facts.seconds()) frames += fmt::format(", {:.3f} s", *seconds);
  if (is_by_index(facts)) frames += " (by its index; --packets counts)";
  std::string text = fmt::format("{}: {}, {}\n", facts.name, s.container, s.codec) +
                     picture_text(s) + row("frames", frames);
  if (facts.file_bytes) {
    const auto rate = facts.bits_per_second();
    text += row("file", with_commas(*facts.file_bytes) + " bytes" +
                            (rate ? fmt::format(", {:.2f} Mb/s", *rate * 1e-6) : ""));
  }
  if (s.missing_bytes > 0)
    text += row("cut short", with_commas(s.missing_bytes) + " bytes are missing at its end");
  if (facts.sizes && facts.sizes->count > 0)
    text += row("frame sizes",
                fmt::format("{} to {} bytes, {} on average", with_commas(facts.sizes->smallest),
                            with_commas(facts.sizes->largest),
                            with_commas(facts.sizes->total / facts.sizes->count)));
  if (s.has_audio && s.content.streams.empty()) text += row("sound", "yes");
  text += content_text(facts);
  if (facts.stream) text += stream_text(facts);
  if (!facts.stream_problem.empty()) {
    if (facts.kind) text += row("JPEG", kind_text(*facts.kind));
    text += row(facts.kind ? "" : "JPEG", facts.stream_problem);
  }
  text.pop_back();
  return text;
}

}  // namespace zerorun::app
