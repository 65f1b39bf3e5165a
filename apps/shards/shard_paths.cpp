// Where the files of a shard lie.
// SPDX-License-Identifier: MIT
#include "apps/shards/shard_paths.hpp"

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>

namespace zerorun::app {

std::string shard_folder(const std::string& output) { return output + ".shards"; }

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

}  // namespace zerorun::app
