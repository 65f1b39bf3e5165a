// What changed between two reports beyond their noise.
// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace zerorun::app::bench {

enum class Change {
  none,    ///< within the threshold, or within the noise
  slower,  ///< a regression
  faster,
  only_old,
  only_new,
};

struct Comparison {
  std::string name;  ///< the case and the row
  Change change = Change::none;
  double old_us = 0, new_us = 0;  ///< medians
  double percent = 0;             ///< of the old median; positive is slower
  double bytes_percent = 0;       ///< of the old stream size; positive is larger
};

/// Rows are matched by case and id. A change counts when the medians differ by more than
/// `threshold` percent and their 95 % confidence intervals do not touch.
/// Throws std::exception where a report is not what report_json() writes.
std::vector<Comparison> compare_reports(const nlohmann::json& old_report,
                                        const nlohmann::json& new_report, double threshold);

/// A table of what changed, the machine facts that differ, and a last line with the counts.
std::string comparison_text(const std::vector<Comparison>& rows, const nlohmann::json& old_report,
                            const nlohmann::json& new_report);

}  // namespace zerorun::app::bench
