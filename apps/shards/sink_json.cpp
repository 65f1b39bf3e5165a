// The options of an output as JSON.
// SPDX-License-Identifier: MIT
#include "apps/shards/sink_json.hpp"

#include <cmath>

#include "apps/shards/checked_json.hpp"

namespace zerorun::app {
namespace {

using Json = nlohmann::ordered_json;

/// Every member of SinkOptions needs a place below. This does not compile when there is a new one.
[[maybe_unused]] void count_members(const io::SinkOptions& options) {
  [[maybe_unused]] const auto& [overwrite, width, height, frame_format, frame_rate, time_base,
                                sample_aspect, rotation, mirrored, variable, coded, audio_from,
                                streams_from, audio_start, audio_end, raw_format, content,
                                first_frame] = options;
  [[maybe_unused]] const auto& [tags, stream_tags, timecode, fields, range, matrix, transfer,
                                primaries, pixel_format, bits, has_alpha, is_rgb, stereo,
                                is_default, streams, chapters] = content;
}

Json rational(io::Rational value) { return {value.num, value.den}; }

io::Rational parse_rational_json(const Json& json, const char* key) {
  const Json& value = member(json, key);
  if (!value.is_array() || value.size() != 2)
    throw JsonError(fmt::format("\"{}\" does not have two numbers", key));
  constexpr std::int64_t kMost = INT32_MAX;  // libavutil's fractions have no more
  return {whole(value[0], key, 0, kMost), whole(value[1], key, 1, kMost)};
}

double seconds(const Json& json, const char* key) {
  const Json& value = member(json, key);
  constexpr double kMost = 1e12;
  if (!value.is_number() || !(std::abs(value.get<double>()) < kMost))
    throw JsonError(fmt::format("\"{}\" is not a time", key));
  return value.get<double>();
}

PixelFormat format(const Json& json, const char* key) {
  const auto found = parse_pixel_format(text(json, key));
  if (!found) throw JsonError(fmt::format("\"{}\" is not a pixel format", key));
  return *found;
}

using Tags = std::vector<std::pair<std::string, std::string>>;

Json tags_json(const Tags& tags) {
  Json json = Json::array();
  for (const auto& [key, value] : tags) json.push_back({key, value});
  return json;
}

Tags parse_tags(const Json& json, const char* key) {
  const Json& list = member(json, key);
  constexpr std::size_t kMostTags = 1000;
  if (!list.is_array() || list.size() > kMostTags)
    throw JsonError(fmt::format("\"{}\" is not a list of tags", key));
  Tags tags;
  for (const Json& tag : list) {
    if (!tag.is_array() || tag.size() != 2 || !tag[0].is_string() || !tag[1].is_string())
      throw JsonError(fmt::format("\"{}\" is not a list of tags", key));
    tags.emplace_back(tag[0].get<std::string>(), tag[1].get<std::string>());
  }
  return tags;
}

Json chapters_json(const std::vector<io::Chapter>& chapters) {
  Json json = Json::array();
  for (const io::Chapter& chapter : chapters)
    json.push_back({{"start", chapter.start}, {"end", chapter.end}, {"title", chapter.title}});
  return json;
}

std::vector<io::Chapter> parse_chapters(const Json& json) {
  const Json& list = member(json, "chapters");
  constexpr std::size_t kMostChapters = 10000;
  if (!list.is_array() || list.size() > kMostChapters)
    throw JsonError("\"chapters\" is not a list of chapters");
  std::vector<io::Chapter> chapters;
  for (const Json& chapter : list)
    chapters.push_back(
        {seconds(chapter, "start"), seconds(chapter, "end"), text(chapter, "title")});
  return chapters;
}

/// What containers hold; pixel_format, bits and the rest only describe the source.
Json content_json(const io::ContainerContent& content) {
  return {{"tags", tags_json(content.tags)},
          {"stream_tags", tags_json(content.stream_tags)},
          {"timecode", content.timecode},
          {"field_order", static_cast<int>(content.field_order)},
          {"range", content.range},
          {"matrix", content.matrix},
          {"transfer", content.transfer},
          {"primaries", content.primaries},
          {"pixel_format", content.pixel_format},
          {"bits", content.bits},
          {"has_alpha", content.has_alpha},
          {"is_rgb", content.is_rgb},
          {"stereo_mode", content.stereo_mode},
          {"is_default", content.is_default},
          {"chapters", chapters_json(content.chapters)}};
}

io::ContainerContent parse_content(const Json& json) {
  io::ContainerContent content;
  content.tags = parse_tags(json, "tags");
  content.stream_tags = parse_tags(json, "stream_tags");
  content.timecode = text(json, "timecode");
  constexpr auto kLast = static_cast<std::int64_t>(io::FieldOrder::bottom_first);
  content.field_order =
      static_cast<io::FieldOrder>(whole(member(json, "field_order"), "field_order", 0, kLast));
  content.range = text(json, "range");
  content.matrix = text(json, "matrix");
  content.transfer = text(json, "transfer");
  content.primaries = text(json, "primaries");
  content.pixel_format = text(json, "pixel_format");
  content.bits = static_cast<int>(whole(member(json, "bits"), "bits", 0, 64));
  content.has_alpha = flag(json, "has_alpha");
  content.is_rgb = flag(json, "is_rgb");
  content.stereo_mode = text(json, "stereo_mode");
  content.is_default = flag(json, "is_default");
  content.chapters = parse_chapters(json);
  return content;
}

}  // namespace

std::optional<PixelFormat> parse_pixel_format(std::string_view wanted) {
  for (int i = 0; i < kPixelFormatCount; ++i)
    if (name(static_cast<PixelFormat>(i)) == wanted) return static_cast<PixelFormat>(i);
  return std::nullopt;
}

Json sink_json(const io::SinkOptions& options) {
  Json json = {{"width", options.width},
               {"height", options.height},
               {"frame_rate", rational(options.frame_rate)},
               {"time_base", rational(options.time_base)},
               {"sample_aspect", rational(options.sample_aspect)},
               {"rotation_degrees", options.rotation_degrees},
               {"mirrored", options.mirrored},
               {"variable_frame_rate", options.variable_frame_rate},
               {"coded_format", std::string(name(options.coded_format))},
               {"audio_start_seconds", options.audio_start_seconds},
               {"audio_end_seconds", options.audio_end_seconds},
               {"raw_format", options.raw_format},
               {"content", content_json(options.content)},
               {"first_frame", options.first_frame}};
  if (options.frame_format) json["frame_format"] = std::string(name(*options.frame_format));
  return json;
}

io::SinkOptions sink_from_json(const Json& json) {
  io::SinkOptions options;
  options.width = static_cast<int>(whole(member(json, "width"), "width", 1, kMaxDimension));
  options.height = static_cast<int>(whole(member(json, "height"), "height", 1, kMaxDimension));
  options.frame_rate = parse_rational_json(json, "frame_rate");
  options.time_base = parse_rational_json(json, "time_base");
  options.sample_aspect = parse_rational_json(json, "sample_aspect");
  options.rotation_degrees =
      static_cast<int>(whole(member(json, "rotation_degrees"), "rotation_degrees", -360, 360));
  options.mirrored = flag(json, "mirrored");
  options.variable_frame_rate = flag(json, "variable_frame_rate");
  options.coded_format = format(json, "coded_format");
  options.audio_start_seconds = seconds(json, "audio_start_seconds");
  options.audio_end_seconds = seconds(json, "audio_end_seconds");
  options.raw_format = text(json, "raw_format");
  options.content = parse_content(member(json, "content"));
  options.first_frame = whole(member(json, "first_frame"), "first_frame", 0, INT64_MAX);
  if (json.contains("frame_format")) options.frame_format = format(json, "frame_format");
  return options;
}

}  // namespace zerorun::app
