// What is known about a shard, as JSON and as lines of a journal.
// SPDX-License-Identifier: MIT
#include "apps/shards/manifest.hpp"

#include <fmt/core.h>

#include <array>
#include <limits>
#include <set>

#include "apps/common/json_text.hpp"
#include "apps/common/text.hpp"
#include "apps/shards/checked_json.hpp"
#include "apps/shards/hash.hpp"
#include "apps/shards/sink_json.hpp"
#include "codec/base/try.hpp"

namespace zerorun::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFormat = "zerorun shard 1";
constexpr std::array kKinds{"packets", "frames", "pictures"};
/// 512 MiB a picture, as the splitter of Motion JPEG has it; raw samples have at most 4 bytes for
/// each of 2^27 pixels, which is the same.
constexpr std::int64_t kMostFrameBytes = std::int64_t{1} << 29;
constexpr std::int64_t kMostFrames = std::int64_t{1} << 40;

ShardKind parse_kind(const std::string& word) {
  for (std::size_t i = 0; i < kKinds.size(); ++i)
    if (word == kKinds[i]) return static_cast<ShardKind>(i);
  throw JsonError("\"kind\" is not packets, frames or pictures");
}

Json span_json(const FrameSpan& span) { return {span.first, span.last, span.step}; }

FrameSpan parse_span(const Json& json) {
  if (!json.is_array() || json.size() != 3) throw JsonError("\"span\" does not have three numbers");
  const FrameSpan span{whole(json[0], "span", 0, kMostFrames),
                       whole(json[1], "span", 0, kMostFrames),
                       whole(json[2], "span", 1, kMostFrames)};
  if (span.last < span.first) throw JsonError("\"span\" ends before it starts");
  return span;
}

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

std::optional<ShardId> parse_shard_json(const Json& json) {
  if (json.is_null()) return std::nullopt;
  if (!json.is_array() || json.size() != 2) throw JsonError("\"shard\" does not have two numbers");
  const ShardId shard{whole(json[0], "shard", 0, kMostShards - 1),
                      whole(json[1], "shard", 1, kMostShards)};
  if (shard.index >= shard.count) throw JsonError("\"shard\" has an index that is too large");
  return shard;
}

/// A name alone: no folder, nothing that leads out of one.
std::string file_name(const Json& json, const char* key) {
  std::string name = text(json, key);
  if (name.empty() || name == "." || name == ".." || name.find('/') != std::string::npos ||
      name.find('\0') != std::string::npos)
    throw JsonError(fmt::format("\"{}\" is not the name of a file", key));
  return name;
}

ShardHead parse_head(const Json& json) {
  if (text(json, "format") != kFormat) throw JsonError("\"format\" is not \"zerorun shard 1\"");
  ShardHead head;
  head.program = text(json, "program");
  head.command = text(json, "command");
  head.kind = parse_kind(text(json, "kind"));
  head.output = file_name(json, "output");
  head.output_format = text(json, "output_format");
  head.parameters = object(json, "parameters");
  head.input = object(json, "input");
  head.shard = parse_shard_json(member(json, "shard"));
  head.span = parse_span(member(json, "span"));
  head.total = whole(member(json, "total"), "total", 0, kMostFrames);
  head.sink = sink_from_json(object(json, "sink"));
  head.has_audio = flag(json, "audio");
  head.pixel_format = text(json, "pixel_format");
  head.start_number = whole(member(json, "start_number"), "start_number", 0, kMostFrames);
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
  Json shard;
  if (head.shard) shard = {head.shard->index, head.shard->count};
  return {{"format", kFormat},
          {"program", head.program},
          {"command", head.command},
          {"kind", kKinds[static_cast<std::size_t>(head.kind)]},
          {"output", head.output},
          {"output_format", head.output_format},
          {"parameters", head.parameters},
          {"input", head.input},
          {"shard", shard},
          {"span", span_json(head.span)},
          {"total", head.total},
          {"sink", sink_json(head.sink)},
          {"audio", head.has_audio},
          {"pixel_format", head.pixel_format},
          {"start_number", head.start_number}};
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

}  // namespace zerorun::app
