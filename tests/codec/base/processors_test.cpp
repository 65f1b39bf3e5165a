// How many processors the process may use.
// SPDX-License-Identifier: MIT
#include "codec/base/thread_pool.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "zerorun/backend.hpp"

namespace zerorun::test {
namespace {

TEST(Processors, AreThoseThatTheThreadMayUse) {
  int one = 0, all = usable_processors();
  std::thread([&one] {
    cpu_set_t allowed;
    ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    std::size_t first = 0;
    while (!CPU_ISSET(first, &allowed)) ++first;
    cpu_set_t single;
    CPU_ZERO(&single);
    CPU_SET(first, &single);
    ASSERT_EQ(sched_setaffinity(0, sizeof single, &single), 0);
    one = usable_processors();
  }).join();
  EXPECT_EQ(one, 1);
  EXPECT_GE(all, 1);
  EXPECT_EQ(usable_processors(), all);
}

TEST(Processors, OfALimitAreRoundedUp) {
  EXPECT_EQ(processors_of_cpu_max("200000 100000\n"), 2);
  EXPECT_EQ(processors_of_cpu_max("150000 100000\n"), 2);
  EXPECT_EQ(processors_of_cpu_max("1000 100000"), 1);
  EXPECT_EQ(processors_of_cpu_max("18446744073709551615 1"), 1 << 20);
  for (const char* text : {"max 100000\n", "", "x", "200000", "200000 ", "200000 x", "200000 0",
                           "0 100000", "-1 100000", "99999999999999999999 1"})
    EXPECT_EQ(processors_of_cpu_max(text), std::nullopt) << text;
}

class ProcessorsOfGroups : public testing::Test {
 protected:
  const std::filesystem::path root_ =
      std::filesystem::temp_directory_path() / ("zerorun-groups-" + std::to_string(getpid()));

  void SetUp() override { std::filesystem::create_directories(root_ / "a/b"); }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void limit(const char* group, const char* text) {
    std::ofstream(root_ / group / "cpu.max") << text << '\n';
  }
  std::optional<int> of(const char* groups) const {
    return processors_of_groups(groups, root_.string());
  }
};

TEST_F(ProcessorsOfGroups, AreTheFewestOfAllAbove) {
  EXPECT_EQ(of("0::/a/b\n"), std::nullopt);
  limit("a/b", "max 100000");
  EXPECT_EQ(of("0::/a/b\n"), std::nullopt);
  limit("a", "300000 100000");
  EXPECT_EQ(of("0::/a/b\n"), 3);
  limit("a/b", "500000 100000");
  EXPECT_EQ(of("0::/a/b\n"), 3);
  limit("a/b", "100000 100000");
  EXPECT_EQ(of("0::/a/b\n"), 1);
  EXPECT_EQ(of("0::/a\n"), 3);
  EXPECT_EQ(of("0::/\n"), std::nullopt);
  limit("", "800000 100000");
  EXPECT_EQ(of("0::/\n"), 8);
}

TEST_F(ProcessorsOfGroups, OfVersionOneStandInTwoFiles) {
  const auto limit_one = [&](const char* group, const char* quota) {
    std::filesystem::create_directories(root_ / "cpu" / group);
    std::ofstream(root_ / "cpu" / group / "cpu.cfs_quota_us") << quota << '\n';
    std::ofstream(root_ / "cpu" / group / "cpu.cfs_period_us") << "100000\n";
  };
  const char* const groups = "4:memory:/x\n3:cpu,cpuacct:/c/d\n0::/\n";
  EXPECT_EQ(of(groups), std::nullopt);
  limit_one("c/d", "-1");
  EXPECT_EQ(of(groups), std::nullopt);
  limit_one("c", "250000");
  EXPECT_EQ(of(groups), 3);
  EXPECT_EQ(of("3:cpuacct,cpu:/c"), 3);
  EXPECT_EQ(of("3:cpuacct:/c/d\n2:cpuset:/c\n"), std::nullopt);
  limit("", "200000 100000");
  EXPECT_EQ(of(groups), 2) << "both versions";
}

TEST_F(ProcessorsOfGroups, AreFoundInTheirLine) {
  limit("a", "300000 100000");
  EXPECT_EQ(of("12:net_cls:/x\n1:name=systemd:/y\n0::/a\n"), 3);
  EXPECT_EQ(of("0::/a"), 3);
  EXPECT_EQ(of("0::/gone/away\n"), std::nullopt);
  for (const char* groups : {"", "\n", "0::", "0:", "0", "0::a\n", "12:memory:/a\n", "::"})
    EXPECT_EQ(of(groups), std::nullopt) << groups;
}

}  // namespace
}  // namespace zerorun::test
