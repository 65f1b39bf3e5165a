// Memory of a NUMA node.
// SPDX-License-Identifier: MIT
#include "codec/base/numa_memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace zerorun::test {
namespace {

TEST(NumaNodes, AreReadFromAList) {
  EXPECT_EQ(parse_node_list("0"), std::vector{0});
  EXPECT_EQ(parse_node_list("0-2"), (std::vector{0, 1, 2}));
  EXPECT_EQ(parse_node_list("0-1,3,8-9"), (std::vector{0, 1, 3, 8, 9}));
  for (const char* text : {"", "x", "1-", "-1", "2-1", "0-99999", "4096", "0 1"})
    EXPECT_TRUE(parse_node_list(text).empty()) << text;
}

TEST(NumaNodes, AreThoseThatTheSystemNames) {
  const auto folder =
      std::filesystem::temp_directory_path() / ("zerorun-nodes-" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  std::ofstream(folder / "has_memory") << "0,2\n";
  EXPECT_EQ(memory_nodes(folder.string()), (std::vector{0, 2}));
  std::filesystem::remove_all(folder);
  EXPECT_TRUE(memory_nodes(folder.string()).empty());
}

/// The node of the page; -1 where the system does not tell.
int node_of(const void* page) {
  int node = -1;
  const long failed = syscall(SYS_get_mempolicy, &node, nullptr, 0UL, page,
                              static_cast<unsigned long>(MPOL_F_NODE | MPOL_F_ADDR));
  return failed == 0 ? node : -1;
}

TEST(NumaMemory, LiesOnTheNode) {
  std::vector<int> nodes = memory_nodes();
  if (nodes.empty()) nodes = {0};
  constexpr std::size_t kBytes = 300000;  // no multiple of a page
  for (const int node : nodes) {
    const auto memory = map_on_node(kBytes, node);
    ASSERT_TRUE(memory);
    (*memory)[kBytes - 1] = std::byte{1};
    EXPECT_EQ((*memory)[0], std::byte{0});
    if (const int found = node_of(*memory); found >= 0) {
      EXPECT_EQ(found, node);
    }
    unmap_pages(*memory, kBytes);
  }
}

TEST(NumaMemory, IsGivenForANodeThatIsNotThere) {
  const auto memory = map_on_node(4096, 700);
  ASSERT_TRUE(memory);
  unmap_pages(*memory, 4096);
}

TEST(NumaMemory, LargeOnesStandWhereHugePagesCan) {
  constexpr std::size_t kBytes = (std::size_t{5} << 20) + 100;
  const auto memory = map_on_node(kBytes, -1);
  ASSERT_TRUE(memory);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(*memory) % (std::uintptr_t{2} << 20), 0u);
  std::fill_n(*memory, kBytes, std::byte{7});
  EXPECT_EQ((*memory)[kBytes - 1], std::byte{7});
  unmap_pages(*memory, kBytes);
}

TEST(NumaMemory, MoreThanThereCanBeIsAnError) {
  for (const std::size_t bytes :
       {std::numeric_limits<std::size_t>::max(), std::numeric_limits<std::size_t>::max() / 4})
    EXPECT_EQ(map_on_node(bytes, -1).status().code(), Errc::out_of_memory);
}

}  // namespace
}  // namespace zerorun::test
