// How frames are shared out, and which shard a scheduler means; manifests and journals: what is
// written is read back, and nothing that a stranger wrote is believed.
// SPDX-License-Identifier: MIT
#include "apps/shards/manifest.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "apps/shards/hash.hpp"
#include "apps/shards/split.hpp"

namespace zerorun::app {
namespace {

ShardManifest sample() {
  ShardManifest manifest;
  ShardHead& head = manifest.head;
  head.program = program_text();
  head.command = "encode";
  head.output = "shot.mov";
  head.parameters = {{"quality", 90}};
  head.input = {{"path", "in.y4m"}, {"size", 7}};
  head.shard = ShardId{1, 3};
  head.span = {4, 7, 1};
  head.total = 10;
  head.sink.width = 64;
  head.sink.height = 48;
  head.sink.frame_rate = {25, 1};
  for (int i = 0; i < 3; ++i) {
    ShardFrame frame;
    frame.bytes = 100 + i;
    frame.time = {4 + i, 1};
    frame.width = 64;
    frame.height = 48;
    frame.hash = 0x0123456789ABCDEFu + static_cast<unsigned>(i);
    manifest.frames.push_back(frame);
  }
  return manifest;
}

TEST(Manifest, ACutOneIsRefusedAtEveryByte) {
  const std::string text = manifest_text(sample());
  for (std::size_t size = 0; size + 2 < text.size(); ++size)
    EXPECT_FALSE(parse_manifest(text.substr(0, size))) << size;
}

std::string with(const std::string& from, const std::string& to) {
  std::string text = manifest_text(sample());
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Manifest, HostileValuesAreRefused) {
  const std::vector<std::pair<std::string, std::string>> changes = {
      {"\"shot.mov\"", "\"../shot.mov\""},
      {"\"shot.mov\"", "\"/etc/passwd\""},
      {"\"shot.mov\"", "\"..\""},
      {"\"shot.mov\"", "\"\""},
      {"\"zerorun shard 1\"", "\"other 1\""},
      {"\"packets\"", "\"programs\""},
      {"\"total\": 10", "\"total\": -1"},
      {"\"total\": 10", "\"total\": 1e400"},
      {"\"total\": 10", "\"total\": 18446744073709551615"},
      {"[100,", "[-100,"},
      {"[100,", "[0,"},
      {"[100,", "[1099511627776,"},
      {"[100,4,", "[100,9223372036854775807,"},
      {"0123456789abcdef", "0123456789ABCDEF"},
      {"0123456789abcdef", "0123"},
      {"\"width\": 64", "\"width\": 70000"},
      {"\"frame_rate\"", "\"frame_rates\""},
      {"\"parameters\"", "\"parameter\""},
      {"[100,4,1,64,48", "[100,4,1,0,48"}};
  for (const auto& [from, to] : changes)
    EXPECT_FALSE(parse_manifest(with(from, to))) << from << " -> " << to;
  std::string nul = with("\"shot.mov\"", "\"shot.mov\\u0000.txt\"");
  EXPECT_FALSE(parse_manifest(nul));
  EXPECT_FALSE(parse_manifest(with("shot.mov", "shot\xFF.mov")));  // not UTF-8
  // Readers differ in which of two values they take.
  EXPECT_FALSE(parse_manifest(with("\"total\": 10", "\"total\": 10, \"total\": 10")));
  EXPECT_FALSE(parse_manifest(with("\"size\": 7", "\"size\": 7, \"size\": 8")));
  EXPECT_FALSE(parse_manifest(with("\"total\": 10", "\"total\": 1099511627777")));
  EXPECT_FALSE(parse_manifest(with("\"total\": 10", "\"total\": 10.5")));
  // More frames than the span has.
  ShardManifest longer = sample();
  longer.frames.push_back(longer.frames.back());
  EXPECT_FALSE(parse_manifest(manifest_text(longer)));
}

TEST(Manifest, HasTheHashOfTheInputsBytes) {
  ShardManifest manifest = sample();
  EXPECT_FALSE(input_hash(manifest.frames));  // one source is not known
  EXPECT_EQ(manifest_text(manifest).find("xxh3"), std::string::npos);
  for (std::size_t i = 0; i < manifest.frames.size(); ++i) manifest.frames[i].source = 77 + i;
  const std::string text = manifest_text(manifest);
  const std::string hash = hash_text(*input_hash(manifest.frames));
  ASSERT_NE(text.find("\"xxh3\": \"" + hash + "\""), std::string::npos) << text;
  const auto got = parse_manifest(text);
  ASSERT_TRUE(got) << got.status().message();
  EXPECT_EQ(to_json(got->head), to_json(manifest.head));  // not a part of the work's identity
  std::swap(manifest.frames[0].source, manifest.frames[1].source);
  EXPECT_NE(hash_text(*input_hash(manifest.frames)), hash);
  std::string other = text;
  other[other.find(hash)] ^= 1;
  EXPECT_FALSE(parse_manifest(other));
}

TEST(Manifest, NamesThatAreNotUtf8AreWritten) {
  ShardManifest manifest = sample();
  manifest.head.input["path"] = "in\xFF.y4m";
  manifest.head.input = as_written(manifest.head.input);
  const auto got = parse_manifest(manifest_text(manifest));
  ASSERT_TRUE(got) << got.status().message();
  EXPECT_EQ(to_json(got->head), to_json(manifest.head));
}

TEST(Manifest, DeepNestingEndsEarly) {
  EXPECT_FALSE(parse_manifest(std::string(1'000'000, '[')));
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
  EXPECT_FALSE(parse_manifest(objects));
}

TEST(Manifest, JournalLinesCarryTheirCheck) {
  const ShardFrame frame = sample().frames[1];
  const std::string line = journal_line(frame);
  ASSERT_EQ(line.back(), '\n');
  const std::string whole = line.substr(0, line.size() - 1);
  ASSERT_TRUE(parse_journal_line(whole));
  EXPECT_EQ(*parse_journal_line(whole), frame);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    EXPECT_FALSE(parse_journal_line(whole.substr(0, i))) << i;
    std::string wrong = whole;
    wrong[i] = wrong[i] == '7' ? '8' : '7';
    EXPECT_FALSE(parse_journal_line(wrong)) << i;
  }
}

TEST(Manifest, OtherWorkIsNamed) {
  const ShardHead head = sample().head;
  std::string difference;
  ShardHead other = head;
  other.sink.width = 99;  // comes from the first frame that a run happens to begin with
  EXPECT_TRUE(is_same_work(head, other, difference));
  other.parameters["quality"] = 80;
  EXPECT_FALSE(is_same_work(head, other, difference));
  EXPECT_EQ(difference, "--quality");
  other = head;
  other.input["size"] = 8;
  EXPECT_FALSE(is_same_work(head, other, difference));
  EXPECT_EQ(difference, "input (size)");
  other = head;
  other.program = "zerorun 99";
  EXPECT_FALSE(is_same_work(head, other, difference));
}

TEST(Manifest, NamesOfShards) {
  EXPECT_EQ(shard_stem(ShardId{3, 16}, {}), "003-of-016");
  EXPECT_EQ(shard_stem(ShardId{3, 100'000}, {}), "000003-of-100000");
  EXPECT_EQ(shard_stem(std::nullopt, {5, 20, 3}), "frames-00000005-00000020-step-3");
}

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
