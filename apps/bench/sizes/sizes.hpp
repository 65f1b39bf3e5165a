// `zerorun bench --exact-size`: whether streams have the sizes that were asked for, and what that
// costs.
// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/bench/options.hpp"
#include "apps/bench/report/report.hpp"
#include "apps/bench/sizes/exact_size.hpp"

namespace zerorun::app::bench {

/// All pictures by one mode on one device.
struct SizesRow {
  std::string device;  ///< "cpu", "cuda:0"
  Case what;
  std::vector<rd::SizeTally> targets;  ///< the first is that of the smallest sizes

  rd::SizeTally all() const;
};

struct SizesReport {
  std::string command;
  Facts machine;
  rd::SizeRange range;
  std::size_t pictures = 0;
  double pixels = 0;  ///< of all pictures
  std::vector<SizesRow> rows;
};

/// What --exact-size measures, as far as the command line says nothing else.
void choose_sizes(const CLI::App& command, Options& options);

/// Codes all pictures. Ends the command when an input cannot be read.
SizesReport measure_sizes(const Options& options, const Selection& selection);

/// A table; `every_row`: a row for each target, too.
std::string sizes_text(const SizesReport& report, bool every_row);
nlohmann::ordered_json sizes_json(const SizesReport& report);
std::string sizes_csv(const SizesReport& report);

}  // namespace zerorun::app::bench
