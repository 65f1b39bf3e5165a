// The options by which encode and decode make a shard, or go on after a kill.
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include "apps/common/cli_names.hpp"
#include "apps/shards/split.hpp"

namespace zerorun::app {

struct ShardOptions {
  std::optional<ShardId> shard;    ///< --shard I/N
  bool automatic = false;          ///< --shard auto
  std::optional<FrameSpan> range;  ///< --range
  bool resume = false;

  bool any() const noexcept { return shard || automatic || range || resume; }
};

/// `--range` has two meanings: frames of a shard, or the range of a video's samples, which goes to
/// `sample_range` by FFmpeg's name.
void add_shard_options(CLI::App& app, ShardOptions& options, std::string& sample_range);

}  // namespace zerorun::app
