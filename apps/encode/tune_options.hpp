// Options of `zerorun encode` that trade bytes for quality.
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include "apps/common/cli_names.hpp"
#include "zerorun/encoder.hpp"

namespace zerorun::app {

struct TuneOptions {
  Tune tune = Tune::exact;
  Effort effort = Effort::fast;
  std::string tables = "auto";  ///< a name, or a file
  std::optional<HuffmanTables> huffman;
};

void add_tune_options(CLI::App& command, TuneOptions& options);

/// "standard", ...: as --huffman has it.
const char* huffman_text(HuffmanTables tables);

/// Reads the tables if they are a file.
void set_tuning(const TuneOptions& options, EncodeParams& params);

/// ", tune photo, effort best": what is not the default, for the report.
std::string tuning_text(const TuneOptions& options);

}  // namespace zerorun::app
