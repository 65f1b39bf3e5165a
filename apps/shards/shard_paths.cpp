// Where the files of a shard lie.
// SPDX-License-Identifier: MIT
#include "apps/shards/shard_paths.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "apps/common/text.hpp"

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

ShardPaths shard_paths(const std::string& folder, const std::string& stem, ShardKind kind) {
  const std::string path = folder + "/" + stem;
  ShardPaths paths{folder, path + ".json", path + ".journal", {}, {}};
  if (kind == ShardKind::pictures) return paths;
  paths.data = path + (kind == ShardKind::packets ? ".mjpeg" : ".frames");
  paths.data_part = paths.data + ".part";
  return paths;
}

std::optional<std::string> numbered_name(const std::string& pattern, std::int64_t number) {
  std::string name;
  bool found = false;
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    if (pattern[at] != '%') {
      name += pattern[at];
      continue;
    }
    if (pattern.compare(at, 2, "%%") == 0) {
      name += pattern[++at];
      continue;
    }
    const std::size_t end = pattern.find_first_not_of("0123456789", at + 1);
    if (found || end == std::string::npos || pattern[end] != 'd') return std::nullopt;
    const std::string width = pattern.substr(at + 1, end - at - 1);
    const auto digits = width.empty() ? std::optional<std::int64_t>(0) : parse_integer(width);
    if (!digits || *digits > 20) return std::nullopt;
    name += fmt::format("{:0{}}", number, *digits);
    found = true;
    at = end;
  }
  return found ? std::optional(name) : std::nullopt;
}

}  // namespace zerorun::app
