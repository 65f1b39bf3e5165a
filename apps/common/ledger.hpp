// Tells what an output does not keep of an input, in one line, and all of it in detail.
// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>

#include <string>

#include "apps/common/options.hpp"
#include "zerorun/io.hpp"

namespace zerorun::app {

/// Whether INPUT can be opened a second time, for its sound and other streams.
bool is_reopened(const InputOptions& input);

/// Prints one line for what is lost, and with -v a line for each fact. Ends the command with exit 4
/// if something is lost and `stops`. Returns the ledger for the last event of `--progress json`.
nlohmann::ordered_json tell_ledger(const std::string& input, const io::SourceInfo& info,
                                   const io::Location& output, const io::LedgerChoices& choices,
                                   bool stops = false);

/// What `info` declares, as JSON.
nlohmann::ordered_json facts_json(const io::SourceInfo& info);

}  // namespace zerorun::app
