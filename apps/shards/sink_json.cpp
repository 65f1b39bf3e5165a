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
                                sample_aspect, rotation, variable, coded, audio_from, audio_start,
                                audio_end] = options;
}

Json rational(io::Rational value) { return {value.num, value.den}; }

io::Rational parse_rational_json(const Json& json, const char* key) {
  const Json& value = member(json, key);
  if (!value.is_array() || value.size() != 2)
    throw JsonError(fmt::format("\"{}\" has not two numbers", key));
  constexpr std::int64_t kMost = INT32_MAX;  // libavutil's fractions have no more
  return {whole(value[0], key, 0, kMost), whole(value[1], key, 1, kMost)};
}

double seconds(const Json& json, const char* key) {
  const Json& value = member(json, key);
  constexpr double kMost = 1e12;
  if (!value.is_number() || !(std::abs(value.get<double>()) < kMost))
    throw JsonError(fmt::format("\"{}\" is no time", key));
  return value.get<double>();
}

PixelFormat format(const Json& json, const char* key) {
  const auto found = parse_pixel_format(text(json, key));
  if (!found) throw JsonError(fmt::format("\"{}\" is no pixel format", key));
  return *found;
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
               {"variable_frame_rate", options.variable_frame_rate},
               {"coded_format", std::string(name(options.coded_format))},
               {"audio_start_seconds", options.audio_start_seconds},
               {"audio_end_seconds", options.audio_end_seconds}};
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
  options.variable_frame_rate = flag(json, "variable_frame_rate");
  options.coded_format = format(json, "coded_format");
  options.audio_start_seconds = seconds(json, "audio_start_seconds");
  options.audio_end_seconds = seconds(json, "audio_end_seconds");
  if (json.contains("frame_format")) options.frame_format = format(json, "frame_format");
  return options;
}

}  // namespace zerorun::app
