// How frames are shared out, and which shard a scheduler's variables mean.
// SPDX-License-Identifier: MIT
#include "apps/shards/split.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace zerorun::app {
namespace {

TEST(Split, ManyShardsHaveEveryFrameOnceAndDifferByOne) {
  for (const std::int64_t total : {std::int64_t{0}, std::int64_t{1}, std::int64_t{99'999},
                                   std::int64_t{100'000}, std::int64_t{10'000'019}}) {
    constexpr std::int64_t kShards = 100'000;
    std::int64_t next = 0;
    for (std::int64_t i = 0; i < kShards; ++i) {
      const FrameSpan span = split(total, {i, kShards});
      ASSERT_EQ(span.first, next) << i;
      ASSERT_GE(span.count(), total / kShards) << i;
      ASSERT_LE(span.count(), total / kShards + 1) << i;
      next = span.last;
    }
    EXPECT_EQ(next, total);
  }
}

TEST(Split, NumbersNearTheLargestDoNotOverflow) {
  const std::int64_t total = INT64_MAX;
  const FrameSpan last = split(total, {kMostShards - 1, kMostShards});
  EXPECT_EQ(last.last, total);
  EXPECT_EQ(last.count(), total / kMostShards);
}

TEST(Split, StepsCountFrames) {
  EXPECT_EQ((FrameSpan{0, 10, 4}).count(), 3);
  EXPECT_EQ((FrameSpan{2, 3, 4}).count(), 1);
  EXPECT_EQ((FrameSpan{3, 3, 1}).count(), 0);
}

TEST(Split, WordsAreReadWholeOrRefused) {
  EXPECT_EQ(parse_shard("3/16"), (ShardId{3, 16}));
  for (const char* const bad : {"", "3", "3/", "/16", "16/16", "-1/16", "3/0", "3/16x", "3/16/2",
                                "0/1000001", "0x1/2", "99999999999999999999/2"})
    EXPECT_FALSE(parse_shard(bad)) << bad;
  EXPECT_EQ(parse_frame_span("10:20"), (FrameSpan{10, 20, 1}));
  EXPECT_EQ(parse_frame_span("10:20:3"), (FrameSpan{10, 20, 3}));
  for (const char* const bad : {"", "10", "10:", ":20", "20:10", "10:10", "10:20:0", "10:20:-1",
                                "-1:20", "10:20:", "10:20:1:1"})
    EXPECT_FALSE(parse_frame_span(bad)) << bad;
}

using Variables = std::map<std::string, std::string>;

Environment environment_of(const Variables& variables) {
  return [&variables](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
}

std::optional<ShardId> shard_of(const Variables& variables) {
  std::string error;
  const auto shard = shard_from(environment_of(variables), error);
  EXPECT_EQ(error.empty(), shard.has_value());
  return shard;
}

TEST(Split, SchedulersNumberTheirTasks) {
  EXPECT_EQ(shard_of({{"SLURM_ARRAY_TASK_ID", "12"},
                      {"SLURM_ARRAY_TASK_COUNT", "4"},
                      {"SLURM_ARRAY_TASK_MIN", "10"},
                      {"SLURM_PROCID", "0"},
                      {"SLURM_NTASKS", "1"}}),
            (ShardId{2, 4}));
  EXPECT_EQ(shard_of({{"SLURM_PROCID", "3"}, {"SLURM_NTASKS", "8"}}), (ShardId{3, 8}));
  EXPECT_EQ(shard_of({{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}}),
            (ShardId{1, 2}));
  EXPECT_EQ(shard_of({{"PMIX_RANK", "5"}, {"SLURM_NTASKS", "6"}}), (ShardId{5, 6}));
  // In the script of a job of Slurm, whose variables the ranks inherit.
  const Variables ranks{{"SLURM_PROCID", "0"},         {"SLURM_NTASKS", "2"},
                        {"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"},
                        {"SLURM_LOCALID", "0"},        {"OMPI_COMM_WORLD_LOCAL_RANK", "1"}};
  EXPECT_EQ(shard_of(ranks), (ShardId{1, 2}));
  EXPECT_EQ(local_rank(environment_of(ranks)), 1);
  EXPECT_FALSE(shard_of({}));
  EXPECT_FALSE(shard_of({{"SLURM_PROCID", "8"}, {"SLURM_NTASKS", "8"}}));
  // Five tasks, numbered up to 8 by a step of two.
  EXPECT_EQ(shard_of({{"SLURM_ARRAY_TASK_ID", "8"},
                      {"SLURM_ARRAY_TASK_COUNT", "5"},
                      {"SLURM_ARRAY_TASK_MIN", "0"},
                      {"SLURM_ARRAY_TASK_MAX", "8"},
                      {"SLURM_ARRAY_TASK_STEP", "2"}}),
            (ShardId{4, 5}));
  // --array=3,7 of sixteen: task 3 must not become shard 0 of 2.
  EXPECT_FALSE(shard_of({{"SLURM_ARRAY_TASK_ID", "3"},
                         {"SLURM_ARRAY_TASK_COUNT", "2"},
                         {"SLURM_ARRAY_TASK_MIN", "3"},
                         {"SLURM_ARRAY_TASK_MAX", "7"},
                         {"SLURM_ARRAY_TASK_STEP", "1"}}));
  // The same five without their step.
  EXPECT_FALSE(shard_of({{"SLURM_ARRAY_TASK_ID", "8"},
                         {"SLURM_ARRAY_TASK_COUNT", "5"},
                         {"SLURM_ARRAY_TASK_MIN", "0"}}));
  EXPECT_FALSE(shard_of({{"SLURM_ARRAY_TASK_ID", "1"}}));
}

}  // namespace
}  // namespace zerorun::app
