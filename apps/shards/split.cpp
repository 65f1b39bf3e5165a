// SPDX-License-Identifier: MIT
#include "apps/shards/split.hpp"

#include <algorithm>
#include <array>

#include "apps/common/figures.hpp"

namespace zerorun::app {
namespace {

std::optional<std::int64_t> number(const Environment& environment, const char* name) {
  const char* const text = environment(name);
  return text == nullptr ? std::nullopt : parse_integer(text);
}

std::optional<ShardId> checked(std::int64_t index, std::int64_t count) {
  if (count < 1 || count > kMostShards || index < 0 || index >= count) return std::nullopt;
  return ShardId{index, count};
}

/// A job array may begin at any number and have a step. A list with gaps, such as the tasks 3 and 7
/// of an array that failed before, does not tell how many shards there are: it is refused.
std::optional<ShardId> slurm_array(const Environment& environment) {
  const auto task = number(environment, "SLURM_ARRAY_TASK_ID");
  const auto count = number(environment, "SLURM_ARRAY_TASK_COUNT");
  if (!task || !count) return std::nullopt;
  const std::int64_t first = number(environment, "SLURM_ARRAY_TASK_MIN").value_or(0);
  const std::int64_t step = number(environment, "SLURM_ARRAY_TASK_STEP").value_or(1);
  const auto last = number(environment, "SLURM_ARRAY_TASK_MAX");
  if (first < 0 || *task < first || step < 1 || (*task - first) % step != 0) return std::nullopt;
  if (last && (*last < first || (*last - first) / step + 1 != *count)) return std::nullopt;
  return checked((*task - first) / step, *count);
}

struct Pair {
  const char* rank;
  const char* size;
};
/// Slurm's come last: the ranks of a launcher in a job of Slurm inherit those of the job's script,
/// where SLURM_PROCID is 0.
constexpr std::array kPairs{Pair{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                            Pair{"PMIX_RANK", "PMIX_SIZE"}, Pair{"PMI_RANK", "PMI_SIZE"},
                            // PMIx gives a rank, and the launcher that spoke it the size.
                            Pair{"PMIX_RANK", "SLURM_NTASKS"},
                            Pair{"SLURM_PROCID", "SLURM_NTASKS"}};

}  // namespace

FrameSpan split(std::int64_t total, const ShardId& shard) noexcept {
  const std::int64_t each = total / shard.count, more = total % shard.count;
  const std::int64_t first = each * shard.index + std::min(shard.index, more);
  return {first, first + each + (shard.index < more ? 1 : 0), 1};
}

std::optional<ShardId> parse_shard(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto index = parse_integer(text.substr(0, slash));
  const auto count = parse_integer(text.substr(slash + 1));
  return index && count ? checked(*index, *count) : std::nullopt;
}

std::optional<FrameSpan> parse_frame_span(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view rest = text.substr(colon + 1);
  const std::size_t second = rest.find(':');
  const auto first = parse_integer(text.substr(0, colon));
  const auto last = parse_integer(rest.substr(0, second));
  const auto step = second == std::string_view::npos ? std::optional<std::int64_t>(1)
                                                     : parse_integer(rest.substr(second + 1));
  if (!first || !last || !step || *first < 0 || *last <= *first || *step < 1) return std::nullopt;
  return FrameSpan{*first, *last, *step};
}

std::optional<ShardId> shard_from(const Environment& environment, std::string& error) {
  if (environment("SLURM_ARRAY_TASK_ID") != nullptr) {
    const auto shard = slurm_array(environment);
    if (!shard)
      error =
          "SLURM_ARRAY_TASK_ID, _COUNT, _MIN, _MAX and _STEP are no shard; the array has to be A-B "
          "or A-B:STEP without gaps (name the shards of a part of it by --shard I/N)";
    return shard;
  }
  for (const Pair& pair : kPairs) {
    const auto rank = number(environment, pair.rank), size = number(environment, pair.size);
    if (!rank || !size) continue;
    const auto shard = checked(*rank, *size);
    if (!shard) error = std::string(pair.rank) + " and " + pair.size + " are no shard";
    return shard;
  }
  error =
      "neither SLURM_ARRAY_TASK_ID nor SLURM_PROCID, OMPI_COMM_WORLD_RANK or PMIX_RANK with its "
      "size is set";
  return std::nullopt;
}

std::optional<int> local_rank(const Environment& environment) {
  for (const char* const name : {"OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID"})
    if (const auto rank = number(environment, name); rank && *rank >= 0 && *rank < 4096)
      return static_cast<int>(*rank);
  return std::nullopt;
}

}  // namespace zerorun::app
