// Which frames a shard has: pure functions of numbers and words.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace zerorun::app {

/// Shard `index` of `count`, counted from 0.
struct ShardId {
  std::int64_t index = 0;
  std::int64_t count = 1;
  friend bool operator==(const ShardId&, const ShardId&) = default;
};

/// The frames first, first + step, ... below last.
struct FrameSpan {
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::int64_t step = 1;
  friend bool operator==(const FrameSpan&, const FrameSpan&) = default;

  std::int64_t count() const noexcept { return last > first ? (last - first - 1) / step + 1 : 0; }
};

/// No farm has more workers; it also keeps file names short.
inline constexpr std::int64_t kMostShards = 1'000'000;

/// The frames of a shard of `total` frames. Shards differ by one frame at most, lie in order, and
/// have every frame once. `total` >= 0, 0 <= index < count.
FrameSpan split(std::int64_t total, const ShardId& shard) noexcept;

/// "I/N", 0 <= I < N <= kMostShards; nullopt on anything else.
std::optional<ShardId> parse_shard(std::string_view text);

/// "A:B" or "A:B:STEP", 0 <= A < B, STEP >= 1; nullopt on anything else.
std::optional<FrameSpan> parse_frame_span(std::string_view text);

/// Gives the value of an environment variable; null if it is not set. As std::getenv.
using Environment = std::function<const char*(const char* name)>;

/// The shard that a job array of Slurm gives this process, else an MPI launcher, else a step of
/// Slurm. nullopt if no complete pair of variables is there; `error` then says what is there.
std::optional<ShardId> shard_from(const Environment& environment, std::string& error);

/// The number of this process on its machine by Slurm or Open MPI: workers share out the GPUs of a
/// node by it. nullopt if it is not known.
std::optional<int> local_rank(const Environment& environment);

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
