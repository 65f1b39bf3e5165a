// Results as people and programs read them.
// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/bench/report/machine.hpp"
#include "apps/bench/measure/primitives.hpp"
#include "apps/bench/result.hpp"

namespace zerorun::app::bench {

/// Raise it when a member changes its meaning or goes away; new members come freely.
inline constexpr int kReportVersion = 1;

struct Report {
  std::string command;  ///< the whole command line
  Facts machine;
  std::vector<CaseResult> cases;
  std::vector<PrimitiveRow> primitives;
};

/// A table of one case; without `every_row`, of the rows that differ in `parallel` alone the one
/// with the least median.
std::string table_text(const CaseResult& result, bool every_row);
std::string primitives_text(const std::vector<PrimitiveRow>& rows);
std::string machine_text(const Facts& facts);

/// "encode street.jpg: 3840x2160 yuv420p, ..."
std::string title(const Case& what);

nlohmann::ordered_json report_json(const Report& report);
std::string report_csv(const Report& report);
std::string report_html(const Report& report);

/// report.html as it was when the program was built.
const char* report_page() noexcept;

/// The fastest row of each group that differs in `parallel` alone.
std::vector<const Row*> best_rows(const CaseResult& result);

}  // namespace zerorun::app::bench
