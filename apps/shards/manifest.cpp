// SPDX-License-Identifier: MIT
#include "apps/shards/manifest.hpp"

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <stdexcept>
#include <type_traits>

#include "apps/common/figures.hpp"
#include "apps/shards/hash.hpp"
#include "codec/base/try.hpp"

namespace zerorun::app {
namespace {

using Json = nlohmann::ordered_json;

// Values out of JSON that a stranger may have written: each has its type and its range, or there is
// an error that names it.

/// Inside checked_json() alone.
struct JsonError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Runs `read` and makes what it throws a bad_input.
template <typename Read>
auto checked_json(const Read& read) -> Result<decltype(read())> {
  try {
    return read();
  } catch (const JsonError& error) {
    return Status(Errc::bad_input, error.what());
  } catch (const nlohmann::json::exception&) {
    return Status(Errc::bad_input, "it is not JSON, or it is cut short");
  }
}

const Json& member(const Json& json, const char* key) {
  if (!json.is_object() || !json.contains(key))
    throw JsonError(fmt::format("\"{}\" is missing", key));
  return json.at(key);
}

/// A whole number from `least` to `most`.
std::int64_t whole(const Json& value, const char* what, std::int64_t least, std::int64_t most) {
  const bool fits = value.is_number_integer() &&
                    !(value.is_number_unsigned() &&
                      value.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX));
  const std::int64_t number = fits ? value.get<std::int64_t>() : 0;
  if (!fits || number < least || number > most)
    throw JsonError(fmt::format("\"{}\" has a number that is impossible", what));
  return number;
}

std::string text(const Json& json, const char* key) {
  const auto& value = member(json, key);
  if (!value.is_string()) throw JsonError(fmt::format("\"{}\" is not a string", key));
  return value.get<std::string>();
}

bool flag(const Json& json, const char* key) {
  const auto& value = member(json, key);
  if (!value.is_boolean()) throw JsonError(fmt::format("\"{}\" is not true or false", key));
  return value.get<bool>();
}

Json object(const Json& json, const char* key) {
  const auto& value = member(json, key);
  if (!value.is_object()) throw JsonError(fmt::format("\"{}\" is not an object", key));
  return value;
}

constexpr const char* kFormat = "zerorun shard 1";
constexpr std::array kKinds{"packets", "frames", "pictures"};
/// 512 MiB a picture, as the splitter of Motion JPEG has it; raw samples have at most 4 bytes for
/// each of 2^27 pixels, which is the same.
constexpr std::int64_t kMostFrameBytes = std::int64_t{1} << 29;
constexpr std::int64_t kMostFrames = std::int64_t{1} << 40;

using Tags = std::vector<std::pair<std::string, std::string>>;

/// Every member of SinkOptions needs a line below, but for the names, which shards refuse. This
/// does not compile when there is a new one.
[[maybe_unused]] void count_members(const io::SinkOptions& options) {
  [[maybe_unused]] const auto& [overwrite, width, height, frame_format, frame_rate, time_base,
                                sample_aspect, rotation, mirrored, variable, coded, audio_from,
                                streams_from, audio_start, audio_end, raw_format, files, keeps_tree,
                                content, first_frame] = options;
  [[maybe_unused]] const auto& [tags, stream_tags, timecode, fields, range, matrix, transfer,
                                primaries, pixel_format, bits, has_alpha, is_rgb, stereo,
                                is_default, streams, chapters] = content;
}

/// The members in their order, for ToJson and FromJson: a name, and the least and the most of whole
/// numbers.
template <typename Field, typename Chapter>
void each_member(Field& field, Chapter& chapter) requires
    std::is_same_v<std::remove_const_t<Chapter>, io::Chapter> {
  field("start", chapter.start);
  field("end", chapter.end);
  field("title", chapter.title);
}

template <typename Field, typename Content>
void each_member(Field& field, Content& content) requires
    std::is_same_v<std::remove_const_t<Content>, io::ContainerContent> {
  field("tags", content.tags);
  field("stream_tags", content.stream_tags);
  field("timecode", content.timecode);
  field("field_order", content.field_order, 0, static_cast<int>(io::FieldOrder::bottom_first));
  field("range", content.range);
  field("matrix", content.matrix);
  field("transfer", content.transfer);
  field("primaries", content.primaries);
  field("pixel_format", content.pixel_format);
  field("bits", content.bits, 0, 64);
  field("has_alpha", content.has_alpha);
  field("is_rgb", content.is_rgb);
  field("stereo_mode", content.stereo_mode);
  field("is_default", content.is_default);
  field("chapters", content.chapters);
}

/// Without `overwrite` and the path of the sound: those are options of `concat`.
template <typename Field, typename Sink>
void each_member(Field& field,
                 Sink& sink) requires std::is_same_v<std::remove_const_t<Sink>, io::SinkOptions> {
  field("width", sink.width, 1, kMaxDimension);
  field("height", sink.height, 1, kMaxDimension);
  field("frame_rate", sink.frame_rate);
  field("time_base", sink.time_base);
  field("sample_aspect", sink.sample_aspect);
  field("rotation_degrees", sink.rotation_degrees, -360, 360);
  field("mirrored", sink.mirrored);
  field("variable_frame_rate", sink.variable_frame_rate);
  field("coded_format", sink.coded_format);
  field("audio_start_seconds", sink.audio_start_seconds);
  field("audio_end_seconds", sink.audio_end_seconds);
  field("raw_format", sink.raw_format);
  field("content", sink.content);
  field("first_frame", sink.first_frame, 0, INT64_MAX);
  field("frame_format", sink.frame_format);
}

template <typename Field, typename Head>
void each_member(Field& field,
                 Head& head) requires std::is_same_v<std::remove_const_t<Head>, ShardHead> {
  field("program", head.program);
  field("command", head.command);
  field("kind", head.kind);
  field("output", head.output);
  field("output_format", head.output_format);
  field("parameters", head.parameters);
  field("input", head.input);
  field("shard", head.shard);
  field("span", head.span);
  field("total", head.total, 0, kMostFrames);
  field("sink", head.sink);
  field("audio", head.has_audio);
  field("pixel_format", head.pixel_format);
  field("start_number", head.start_number, 0, kMostFrames);
}

struct ToJson {
  Json json = Json::object();

  template <typename Number>
  void operator()(const char* key, const Number& number, std::int64_t, std::int64_t) {
    json[key] = static_cast<std::int64_t>(number);
  }
  template <typename Value>
  void operator()(const char* key, const Value& value) {
    json[key] = to(value);
  }
  void operator()(const char* key, const std::optional<PixelFormat>& format) {
    if (format) json[key] = to(*format);
  }

  template <typename Value>
  static Json to(const Value& value) {
    if constexpr (std::is_constructible_v<Json, Value> && !std::is_enum_v<Value>) {
      return value;
    } else {
      ToJson members;
      each_member(members, value);
      return members.json;
    }
  }
  static Json to(const PixelFormat& format) { return std::string(name(format)); }
  static Json to(const ShardKind& kind) { return kKinds[static_cast<std::size_t>(kind)]; }
  static Json to(const io::Rational& value) { return {value.num, value.den}; }
  static Json to(const FrameSpan& span) { return {span.first, span.last, span.step}; }
  static Json to(const std::optional<ShardId>& shard) {
    return shard ? Json{shard->index, shard->count} : Json();
  }
  static Json to(const Tags& tags) {
    Json list = Json::array();
    for (const auto& [key, value] : tags) list.push_back({key, value});
    return list;
  }
  static Json to(const std::vector<io::Chapter>& chapters) {
    Json list = Json::array();
    for (const io::Chapter& chapter : chapters) list.push_back(to(chapter));
    return list;
  }
};

struct FromJson {
  const Json& json;

  template <typename Number>
  void operator()(const char* key, Number& number, std::int64_t least, std::int64_t most) const {
    number = static_cast<Number>(whole(member(json, key), key, least, most));
  }
  void operator()(const char* key, std::string& value) const { value = text(json, key); }
  void operator()(const char* key, bool& value) const { value = flag(json, key); }
  void operator()(const char* key, Json& value) const { value = object(json, key); }
  void operator()(const char* key, double& seconds) const {
    const Json& value = member(json, key);
    constexpr double kMost = 1e12;
    if (!value.is_number() || !(std::abs(value.get<double>()) < kMost))
      throw JsonError(fmt::format("\"{}\" is not a time", key));
    seconds = value.get<double>();
  }
  void operator()(const char* key, io::Rational& rational) const {
    const Json& value = numbers(key, 2, "two");
    constexpr std::int64_t kMost = INT32_MAX;  // libavutil's fractions have no more
    rational = {whole(value[0], key, 0, kMost), whole(value[1], key, 1, kMost)};
  }
  void operator()(const char* key, PixelFormat& format) const {
    const auto found = parse_pixel_format(text(json, key));
    if (!found) throw JsonError(fmt::format("\"{}\" is not a pixel format", key));
    format = *found;
  }
  void operator()(const char* key, std::optional<PixelFormat>& format) const {
    if (json.contains(key)) (*this)(key, format.emplace());
  }
  void operator()(const char* key, Tags& tags) const {
    const Json& list = member(json, key);
    constexpr std::size_t kMostTags = 1000;
    const auto is_tag = [](const Json& tag) {
      return tag.is_array() && tag.size() == 2 && tag[0].is_string() && tag[1].is_string();
    };
    if (!list.is_array() || list.size() > kMostTags || !std::ranges::all_of(list, is_tag))
      throw JsonError(fmt::format("\"{}\" is not a list of tags", key));
    for (const Json& tag : list)
      tags.emplace_back(tag[0].get<std::string>(), tag[1].get<std::string>());
  }
  void operator()(const char* key, std::vector<io::Chapter>& chapters) const {
    const Json& list = member(json, key);
    constexpr std::size_t kMostChapters = 10000;
    if (!list.is_array() || list.size() > kMostChapters)
      throw JsonError(fmt::format("\"{}\" is not a list of chapters", key));
    for (const Json& chapter : list) {
      const FromJson fields{chapter};
      each_member(fields, chapters.emplace_back());
    }
  }
  void operator()(const char* key, ShardKind& kind) const {
    const auto found = std::ranges::find(kKinds, text(json, key));
    if (found == kKinds.end()) throw JsonError("\"kind\" is not packets, frames or pictures");
    kind = static_cast<ShardKind>(found - kKinds.begin());
  }
  void operator()(const char* key, std::optional<ShardId>& shard) const {
    if (member(json, key).is_null()) return;
    const Json& value = numbers(key, 2, "two");
    shard = ShardId{whole(value[0], key, 0, kMostShards - 1), whole(value[1], key, 1, kMostShards)};
    if (shard->index >= shard->count) throw JsonError("\"shard\" has an index that is too large");
  }
  void operator()(const char* key, FrameSpan& span) const {
    const Json& value = numbers(key, 3, "three");
    span = {whole(value[0], key, 0, kMostFrames), whole(value[1], key, 0, kMostFrames),
            whole(value[2], key, 1, kMostFrames)};
    if (span.last < span.first) throw JsonError("\"span\" ends before it starts");
  }
  template <typename Members>
  void operator()(const char* key, Members& members) const {
    const Json inner = object(json, key);
    const FromJson fields{inner};
    each_member(fields, members);
  }

  const Json& numbers(const char* key, std::size_t count, const char* word) const {
    const Json& value = member(json, key);
    if (!value.is_array() || value.size() != count)
      throw JsonError(fmt::format("\"{}\" does not have {} numbers", key, word));
    return value;
  }
};

Json frame_json(const ShardFrame& frame) {
  return {frame.bytes,  frame.time.pts,        frame.time.duration,    frame.width,
          frame.height, hash_text(frame.hash), hash_text(frame.source)};
}

std::uint64_t hash_of(const Json& json) {
  const auto hash =
      json.is_string() ? parse_hash(json.get_ref<const std::string&>()) : std::nullopt;
  if (!hash) throw JsonError("a frame has no hash of 16 digits");
  return *hash;
}

ShardFrame parse_frame(const Json& json) {
  if (!json.is_array() || json.size() != 7) throw JsonError("a frame does not have seven values");
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min() / 4;
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 4;
  ShardFrame frame;
  frame.bytes = whole(json[0], "frames", 1, kMostFrameBytes);
  frame.time.pts = whole(json[1], "frames", kLeast, kMost);
  frame.time.duration = whole(json[2], "frames", 0, kMost);
  frame.width = static_cast<int>(whole(json[3], "frames", 1, kMaxDimension));
  frame.height = static_cast<int>(whole(json[4], "frames", 1, kMaxDimension));
  frame.hash = hash_of(json[5]);
  frame.source = hash_of(json[6]);
  return frame;
}

ShardHead parse_head(const Json& json) {
  if (text(json, "format") != kFormat) throw JsonError("\"format\" is not \"zerorun shard 1\"");
  ShardHead head;
  const FromJson members{json};
  each_member(members, head);
  // A name alone: no folder, nothing that leads out of one.
  if (head.output.empty() || head.output == "." || head.output == ".." ||
      head.output.find_first_of(std::string_view("/\0", 2)) != std::string::npos)
    throw JsonError("\"output\" is not the name of a file");
  return head;
}

/// It follows from the frames, and no head but that of a manifest has it.
void check_input_hash(ShardManifest& manifest) {
  Json& input = manifest.head.input;
  if (!input.contains("xxh3")) return;
  const auto hash = input_hash(manifest.frames);
  if (!hash || text(input, "xxh3") != hash_text(*hash))
    throw JsonError("\"xxh3\" is not that of its frames' sources");
  input.erase("xxh3");
}

/// The head without what a resumed run cannot know from its own first frame.
Json work_json(const ShardHead& head) {
  Json json = to_json(head);
  for (const char* const key : {"sink", "audio", "pixel_format"}) json.erase(key);
  return json;
}

}  // namespace

std::string program_text() { return std::string("zerorun ") + version(); }

Json to_json(const ShardHead& head) {
  ToJson members;
  members.json["format"] = kFormat;
  each_member(members, head);
  return members.json;
}

Result<ShardHead> head_from_json(const Json& json) {
  return checked_json([&] { return parse_head(json); });
}

bool is_same_work(const ShardHead& a, const ShardHead& b, std::string& difference) {
  const Json one = work_json(a), other = work_json(b);
  for (const auto& [key, value] : one.items()) {
    if (other.at(key) == value) continue;
    difference = key == "program" ? "version of zerorun" : key;
    if (!value.is_object()) return false;
    for (const auto& [inner, inner_value] : value.items())
      if (!other.at(key).contains(inner) || other.at(key).at(inner) != inner_value) {
        difference = key == "input" ? "input (" + inner + ")" : "--" + inner;
        break;
      }
    return false;
  }
  return true;
}

std::optional<std::uint64_t> input_hash(const std::vector<ShardFrame>& frames) {
  Xxh3 hash;
  for (const ShardFrame& frame : frames) {
    if (frame.source == 0) return std::nullopt;
    hash.add(frame.source);
  }
  return hash.value();
}

Json as_written(const Json& json) { return Json::parse(json_text(json)); }

std::string manifest_text(const ShardManifest& manifest) {
  Json json = to_json(manifest.head);
  if (const auto hash = input_hash(manifest.frames)) json["input"]["xxh3"] = hash_text(*hash);
  // One frame a line: short for a million frames, and readable.
  std::string text = json_text(json, 1);
  text.resize(text.rfind('\n'));  // the closing brace comes after the frames
  text += ",\n \"frames\": [";
  for (std::size_t i = 0; i < manifest.frames.size(); ++i)
    text += (i == 0 ? "\n  " : ",\n  ") + frame_json(manifest.frames[i]).dump();
  return text + "\n ]\n}\n";
}

Result<Json> parse_json(std::string_view text) {
  return checked_json([&] {
    constexpr int kDeepest = 8;
    std::array<std::set<std::string>, kDeepest + 2> keys;  // of the object at each depth
    const auto limit = [&keys](int depth, Json::parse_event_t event, Json& value) {
      if (depth > kDeepest) throw JsonError("it is nested too deeply");
      const auto inner = static_cast<std::size_t>(depth);
      if (event == Json::parse_event_t::object_start) keys[inner + 1].clear();
      if (event == Json::parse_event_t::key && !keys[inner].insert(value.get<std::string>()).second)
        throw JsonError("it has a key twice");
      return true;
    };
    return Json::parse(text, limit);
  });
}

Result<ShardManifest> parse_manifest(std::string_view text) {
  ZR_LET(json, parse_json(text));
  return checked_json([&json = json] {
    ShardManifest manifest;
    manifest.head = parse_head(json);
    const Json& frames = member(json, "frames");
    if (!frames.is_array()) throw JsonError("\"frames\" is not an array");
    manifest.frames.reserve(frames.size());
    for (const Json& frame : frames) manifest.frames.push_back(parse_frame(frame));
    if (manifest.frames.size() > static_cast<std::size_t>(manifest.head.span.count()) &&
        manifest.head.span.last < manifest.head.total)
      throw JsonError("there are more frames than the shard has");
    check_input_hash(manifest);
    return manifest;
  });
}

std::string journal_line(const ShardFrame& frame) {
  const std::string line = json_text(frame_json(frame));
  return line + " " + hash_text(xxh3(line)) + "\n";
}

std::optional<ShardFrame> parse_journal_line(std::string_view line) {
  const std::size_t space = line.rfind(' ');
  if (space == std::string_view::npos) return std::nullopt;
  const std::string_view frame = line.substr(0, space);
  const auto check = parse_hash(line.substr(space + 1));
  if (!check || *check != xxh3(frame)) return std::nullopt;
  const auto json = parse_json(frame);
  if (!json) return std::nullopt;
  const auto parsed = checked_json([&] { return parse_frame(*json); });
  return parsed ? std::optional(*parsed) : std::nullopt;
}

constexpr std::string_view kShards = ".shards";

std::string shard_folder(const std::string& output) { return output + std::string(kShards); }

std::string output_of_shards(std::string folder) {
  while (folder.ends_with('/')) folder.pop_back();
  if (folder.ends_with(kShards)) folder.resize(folder.size() - kShards.size());
  return folder;
}

std::string shard_stem(const std::optional<ShardId>& shard, const FrameSpan& span) {
  if (shard) {
    const std::size_t width = std::max<std::size_t>(3, std::to_string(shard->count).size());
    return fmt::format("{:0{}}-of-{:0{}}", shard->index, width, shard->count, width);
  }
  std::string stem = fmt::format("frames-{:08}-{:08}", span.first, span.last);
  if (span.step > 1) stem += fmt::format("-step-{}", span.step);
  return stem;
}

bool is_there(const std::string& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0;
}

ShardPaths shard_paths(const std::string& folder, const std::string& stem, ShardKind kind) {
  const std::string path = folder + "/" + stem;
  ShardPaths paths{folder, path + ".json", path + ".journal", {}, {}};
  if (kind == ShardKind::pictures) return paths;
  paths.data = path + (kind == ShardKind::packets ? ".mjpeg" : ".frames");
  paths.data_part = paths.data + ".part";
  return paths;
}

std::optional<PixelFormat> parse_pixel_format(std::string_view wanted) {
  for (int i = 0; i < kPixelFormatCount; ++i)
    if (name(static_cast<PixelFormat>(i)) == wanted) return static_cast<PixelFormat>(i);
  return std::nullopt;
}

}  // namespace zerorun::app
