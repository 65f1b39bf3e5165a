// How a command runs as a shard.
// SPDX-License-Identifier: MIT
#pragma once

#include "apps/common/signals.hpp"
#include "apps/shards/shard_run.hpp"

namespace zerorun::app {

/// Plans the shard that `options` ask for, calls `run` unless all of it is there, and ends it.
/// Without such options it only calls `run`.
template <typename Parameters, typename Run>
Exit run_shard(FrameOptions& options, const char* command, const Parameters& parameters,
               const Run& run) {
  if (!options.shard.any()) return run();
  signals::set_exit_code(static_cast<int>(Exit::resume));
  options.shard_run = ShardRun::plan(options, command, parameters());
  if (!options.shard_run->has_all_frames()) static_cast<void>(run());
  return options.shard_run->finish();
}

}  // namespace zerorun::app
