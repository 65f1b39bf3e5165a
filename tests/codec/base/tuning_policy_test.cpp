// Sizes that were measured on the user's own GPU: the file, which is not trusted.
// SPDX-License-Identifier: MIT
#include "codec/base/tuning_policy.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace zerorun::test {
namespace {

const std::string kDevice = "NVIDIA Test/GPU, 9.0";

TuningPolicy some_policy() {
  TuningPolicy policy;
  policy.set(Tunable::lanes, 6);
  policy.set(Tunable::room_words, 5120);
  return policy;
}

TEST(TuningPolicy, ComesBackFromItsText) {
  const std::string text = policy_text(kDevice, some_policy());
  EXPECT_EQ(text, "zerorun tuning 1 of NVIDIA Test/GPU, 9.0\nlanes 6\nroom_words 5120\n");
  EXPECT_EQ(*parse_policy(kDevice, text), some_policy());
  EXPECT_EQ(some_policy().get(Tunable::lanes, 4), 6);
  EXPECT_EQ(some_policy().get(Tunable::roomy_chunks, 32u), 32u);
}

TEST(TuningPolicy, IsRefusedWhereALineIsWrong) {
  const std::string head = "zerorun tuning 1 of " + kDevice + "\n";
  ASSERT_TRUE(parse_policy(kDevice, head + "lanes 32\n"));
  for (const char* line :
       {"lanes 33", "lanes 0", "lanes -1", "lanes", "lanes 6 ", "lanes six", "speed 9",
        "room_words 511", "room_words 10241", "launch_blocks 99999999999999999999", " lanes 6", ""})
    EXPECT_FALSE(parse_policy(kDevice, head + line + "\n")) << line;
  EXPECT_FALSE(parse_policy("NVIDIA Other, 9.0", head + "lanes 6\n"));
  EXPECT_FALSE(parse_policy(kDevice, "lanes 6\n"));
}

/// A folder of its own for the files, instead of the user's.
class KeptPolicy : public testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        std::filesystem::temp_directory_path() / ("zerorun-tuning-" + std::to_string(getpid()));
    setenv("ZERORUN_TUNING", folder_.c_str(), 1);
  }
  void TearDown() override {
    unsetenv("ZERORUN_TUNING");
    std::filesystem::remove_all(folder_);
  }
  std::filesystem::path folder_;
};

TEST_F(KeptPolicy, IsReadByWhoComesNext) {
  EXPECT_EQ(kept_policy(kDevice), TuningPolicy{});
  ASSERT_TRUE(keep_policy(kDevice, some_policy()));
  EXPECT_EQ(policy_file(kDevice), folder_.string() + "/tuning-NVIDIA-Test-GPU--9.0.txt");
  EXPECT_EQ(kept_policy(kDevice), some_policy());
  EXPECT_EQ(kept_policy("NVIDIA Test-GPU, 9.0"), TuningPolicy{}) << "the same file, another GPU";
}

TEST_F(KeptPolicy, CountsAsMissingWhenItIsDamaged) {
  ASSERT_TRUE(keep_policy(kDevice, some_policy()));
  std::ofstream(policy_file(kDevice), std::ios::app) << "room_words 99999999\n";
  EXPECT_EQ(kept_policy(kDevice), TuningPolicy{});
  std::ofstream(policy_file(kDevice)) << std::string(100000, 'x');
  EXPECT_EQ(kept_policy(kDevice), TuningPolicy{});
}

TEST_F(KeptPolicy, IsUsedByCodersUntilAnotherIsSet) {
  const std::string device = "GPU of one test, 9.0";
  ASSERT_TRUE(keep_policy(device, some_policy()));
  EXPECT_EQ(current_policy(device), some_policy());
  TuningPolicy other;
  other.set(Tunable::lanes, 2);
  use_policy(device, other);
  EXPECT_EQ(current_policy(device), other);
}

TEST_F(KeptPolicy, IsNowhereIfItIsTurnedOff) {
  setenv("ZERORUN_TUNING", "off", 1);
  EXPECT_EQ(policy_file(kDevice), "");
  EXPECT_EQ(keep_policy(kDevice, some_policy()).code(), Errc::unsupported_output);
}

TEST_F(KeptPolicy, SaysWhereItCannotBeWritten) {
  std::ofstream(folder_.string()) << "a file, where the folder should be";
  EXPECT_EQ(keep_policy(kDevice, some_policy()).code(), Errc::write_failed);
}

}  // namespace
}  // namespace zerorun::test
