// The processors that control groups allow; for usable_processors() of zerorun/backend.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace zerorun {

/// The processors that a file cpu.max allows: microseconds allowed in a period, and the period.
/// Nothing if there is no limit or the text has another form.
std::optional<int> processors_of_cpu_max(std::string_view text);

/// The least limit of the process's control groups, of both versions, and of all groups above them.
/// `groups`: the text of /proc/self/cgroup. `root`: where control groups are mounted; those of
/// version 1 in folders below.
std::optional<int> processors_of_groups(std::string_view groups, const std::string& root);

}  // namespace zerorun
