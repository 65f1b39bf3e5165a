// Memory of a NUMA node.
// SPDX-License-Identifier: MIT
#include "codec/base/numa_memory.hpp"

#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <climits>
#include <cstdint>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

#include "codec/arith/integer.hpp"

namespace zerorun {
namespace {

constexpr int kMostNodes = 1024;  // as Linux
constexpr std::size_t kHugePage = std::size_t{2} << 20;

std::optional<int> parse_node(std::string_view text) {
  int node = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, node);
  if (error != std::errc() || stop != end || node < 0 || node >= kMostNodes) return std::nullopt;
  return node;
}

/// The pages of the range come from the node from now on. A system may refuse it; the pages then
/// lie where the calling thread runs.
void prefer_node(std::byte* memory, std::size_t bytes, int node) {
  constexpr std::size_t kBits = sizeof(unsigned long) * CHAR_BIT;
  std::array<unsigned long, kMostNodes / kBits + 1> mask{};
  const auto number = static_cast<std::size_t>(node);
  mask[number / kBits] = 1UL << (number % kBits);
  (void)syscall(SYS_mbind, memory, bytes, MPOL_PREFERRED, mask.data(),
                static_cast<unsigned long>(kMostNodes), 0UL);
}

}  // namespace

std::vector<int> parse_node_list(std::string_view text) {
  std::vector<int> nodes;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view part = text.substr(0, comma);
    const std::size_t dash = part.find('-');
    const auto first = parse_node(part.substr(0, dash));
    const auto last = dash == part.npos ? first : parse_node(part.substr(dash + 1));
    if (!first || !last || *last < *first) return {};
    for (int node = *first; node <= *last; ++node) nodes.push_back(node);
    text = comma == text.npos ? std::string_view() : text.substr(comma + 1);
  }
  return nodes;
}

std::vector<int> memory_nodes(const std::string& folder) {
  std::ifstream file(folder + "/has_memory");
  std::string line;
  std::getline(file, line);
  return parse_node_list(line);
}

Result<std::byte*> map_on_node(std::size_t bytes, int node) {
  if (bytes > std::numeric_limits<std::size_t>::max() / 2)
    return Status(Errc::out_of_memory, std::to_string(bytes) + " bytes");
  const std::size_t align = bytes < kHugePage ? 1 : kHugePage;
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t kept = round_up(bytes, page);
  const std::size_t mapped = kept + (align > 1 ? align : 0);
  void* const memory =
      mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return Status(Errc::out_of_memory, std::to_string(bytes) + " bytes");
  auto* const all = static_cast<std::byte*>(memory);
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  const std::size_t before = round_up(address, align) - address;
  std::byte* const pages = all + before;
  if (before > 0) (void)munmap(all, before);
  if (mapped > before + kept) (void)munmap(pages + kept, mapped - before - kept);
  if (node >= 0 && node < kMostNodes) prefer_node(pages, bytes, node);
  (void)madvise(pages, bytes, MADV_HUGEPAGE);  // fewer pages to find and to lock
  for (std::size_t at = 0; at < bytes; at += page) pages[at] = std::byte{0};
  return pages;
}

void unmap_pages(std::byte* memory, std::size_t bytes) noexcept { (void)munmap(memory, bytes); }

}  // namespace zerorun
