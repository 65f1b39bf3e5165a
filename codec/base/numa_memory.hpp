// Memory of a NUMA node, by Linux' calls alone.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "zerorun/status.hpp"

namespace zerorun {

/// The numbers of a list such as "0-1,3". Empty: it is no such list.
std::vector<int> parse_node_list(std::string_view text);

/// The NUMA nodes that have memory, as the system lists them in `folder`; empty if it does not.
std::vector<int> memory_nodes(const std::string& folder = "/sys/devices/system/node");

/// Zeroed pages on the node, or on others where it has no room or where the system does not allow
/// the choice; of a negative node: anywhere. Huge pages where the system has them. Every page is
/// there on return. Errors: out_of_memory.
Result<std::byte*> map_on_node(std::size_t bytes, int node);
/// `bytes` as at map_on_node().
void unmap_pages(std::byte* memory, std::size_t bytes) noexcept;

}  // namespace zerorun
