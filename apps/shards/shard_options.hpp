// The options by which encode and decode make a shard, or go on after a kill.
// SPDX-License-Identifier: MIT
#pragma once

#include <CLI/CLI.hpp>

#include <optional>
#include <string>

#include "apps/shards/split.hpp"

namespace zerorun::app {

struct ShardOptions {
  std::optional<ShardId> shard;    ///< --shard I/N
  bool automatic = false;          ///< --shard auto
  std::optional<FrameSpan> range;  ///< --range
  bool resume = false;

  bool any() const noexcept { return shard || automatic || range || resume; }
};

void add_shard_options(CLI::App& app, ShardOptions& options);

}  // namespace zerorun::app
