// What is known about a shard: how it was made, which frames it has, and where its files lie.
// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/shards/split.hpp"
#include "zerorun/sink.hpp"

namespace zerorun::app {

/// A frame of a shard, in its order.
struct ShardFrame {
  std::int64_t bytes = 0;  ///< in the shard's data, or of its picture file
  io::FrameTime time;      ///< as the source gave it
  int width = 0, height = 0;
  std::uint64_t hash = 0;    ///< XXH3 of these bytes
  std::uint64_t source = 0;  ///< XXH3 of what it was made from; 0 = it stayed in device memory
  friend bool operator==(const ShardFrame& a, const ShardFrame& b) {
    return a.bytes == b.bytes && a.time.pts == b.time.pts && a.time.duration == b.time.duration &&
           a.width == b.width && a.height == b.height && a.hash == b.hash && a.source == b.source;
  }
};

/// How the frames of a shard lie on the disk.
enum class ShardKind {
  packets,   ///< JPEG streams one after another: raw Motion JPEG
  frames,    ///< samples one after another, row by row
  pictures,  ///< numbered files under their final names
};

/// Everything but the frames.
struct ShardHead {
  std::string program;  ///< "zerorun 0.1.0"
  std::string command;  ///< "encode" or "decode"
  ShardKind kind = ShardKind::packets;
  std::string output;         ///< the name of OUTPUT without its folder
  std::string output_format;  ///< of --output-format
  /// All that the bytes follow from beside the input.
  nlohmann::ordered_json parameters;
  /// Path, size and time of the input: an identity, never opened. In a manifest also "xxh3", the
  /// input_hash(), which follows from the frames and is compared with them.
  nlohmann::ordered_json input;
  /// Unset for a range that a render manager named.
  std::optional<ShardId> shard;
  FrameSpan span;          ///< of the frames 0 to total - 1 that the whole output has
  std::int64_t total = 0;  ///< as far as the headers of the input tell
  // Set when the output is opened:
  io::SinkOptions sink;      ///< of an unsharded run, without the path of the sound
  bool has_audio = false;    ///< the sound of the input belongs into the output
  std::string pixel_format;  ///< of the samples; empty for packets
  std::int64_t start_number = 1;
};

struct ShardManifest {
  ShardHead head;
  std::vector<ShardFrame> frames;
};

/// XXH3 of the bytes of the input that were used, as they were read: packets, or samples where
/// pictures or video were decoded. It is the XXH3 of those of the frames, in order, so that shards
/// and resumed runs need not read anything twice. nullopt if some stayed in device memory.
std::optional<std::uint64_t> input_hash(const std::vector<ShardFrame>& frames);

/// "zerorun VERSION", which shards carry.
std::string program_text();

/// The JSON as it is after it was written and read again.
nlohmann::ordered_json as_written(const nlohmann::ordered_json& json);

nlohmann::ordered_json to_json(const ShardHead& head);
/// Errors: bad_input, which says what is wrong. Nothing in the JSON is trusted.
Result<ShardHead> head_from_json(const nlohmann::ordered_json& json);
/// True if frames of the two may stand in one output or in one shard: all but `sink` is equal.
/// `difference` says what is not.
bool is_same_work(const ShardHead& a, const ShardHead& b, std::string& difference);

std::string manifest_text(const ShardManifest& manifest);
/// Errors: bad_input.
Result<ShardManifest> parse_manifest(std::string_view text);

/// The line of a frame in a journal, with its end. It carries a check of its own.
std::string journal_line(const ShardFrame& frame);
/// nullopt if the line (without its end) is torn.
std::optional<ShardFrame> parse_journal_line(std::string_view line);

/// Parses JSON that a stranger may have written. Errors: bad_input.
Result<nlohmann::ordered_json> parse_json(std::string_view text);

/// Of a manifest or journal that is read: more than a million frames a shard.
inline constexpr std::size_t kMostManifestBytes = std::size_t{128} << 20;

/// "shot.mov.shards"
std::string shard_folder(const std::string& output);
/// The reverse.
std::string output_of_shards(std::string folder);

struct ShardPaths {
  std::string folder;
  std::string manifest;   ///< there when the shard is whole
  std::string journal;    ///< there while it is made: its head, and a line for each frame
  std::string data;       ///< its frames; empty for pictures
  std::string data_part;  ///< the same while the shard is made
};

/// "003-of-016" for shards by number, "frames-00000100-00000200" for a range, with "-step-4".
std::string shard_stem(const std::optional<ShardId>& shard, const FrameSpan& span);
/// A name is there, be it of a link to nothing.
bool is_there(const std::string& path);
ShardPaths shard_paths(const std::string& folder, const std::string& stem, ShardKind kind);

/// By FFmpeg's name; nullopt if there is no such format.
std::optional<PixelFormat> parse_pixel_format(std::string_view name);

}  // namespace zerorun::app
