// Where the files of a shard lie.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "apps/shards/manifest.hpp"

namespace zerorun::app {

/// Of a manifest or journal that is read: more than a million frames a shard.
inline constexpr std::size_t kMostManifestBytes = std::size_t{128} << 20;

/// "shot.mov.shards"
std::string shard_folder(const std::string& output);

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

}  // namespace zerorun::app
