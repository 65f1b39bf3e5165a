// The machine that the numbers belong to.
// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace zerorun::app::bench {

/// Facts in the order in which they are shown: "cpu", "cores", "gpu cuda:0", "driver", ...
using Facts = std::vector<std::pair<std::string, std::string>>;

/// `cuda` are the devices that are measured.
Facts machine_facts(const std::vector<int>& cuda);

/// Adds name, highest clocks, driver and runtime of the devices.
void add_cuda_facts(const std::vector<int>& cuda, Facts& facts);

/// The clocks of the devices at this moment, when they have been busy.
void add_clocks(const std::vector<int>& cuda, Facts& facts);

}  // namespace zerorun::app::bench
