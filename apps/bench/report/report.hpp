// Results as people and programs read them.
// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/bench/result.hpp"

namespace zerorun::app::bench {

/// Raise it when a member changes its meaning or goes away; members may be added freely, and
/// may go with their option.
inline constexpr int kReportVersion = 1;

/// Facts in the order in which they are shown: "cpu", "cores", "gpu cuda:0", "driver", ...
using Facts = std::vector<std::pair<std::string, std::string>>;

struct Report {
  std::string command;  ///< the whole command line
  Facts machine;
  std::vector<std::string> warnings;  ///< about the machine
  std::vector<CaseResult> cases;
  std::vector<PrimitiveRow> primitives;
};

/// Threads that ran on the machine on average in the last minute; < 0 = not known.
double machine_load();

/// Facts about the machine; `cuda` are the devices that are measured.
Facts machine_facts(const std::vector<int>& cuda);

// Null in a build without CUDA.
/// Adds name, highest clocks, driver and runtime of the devices.
[[gnu::weak]] void add_cuda_facts(const std::vector<int>& cuda, Facts& facts);
/// Adds the clocks of the devices at this moment, when they have been busy.
[[gnu::weak]] void add_clocks(const std::vector<int>& cuda, Facts& facts);

/// "encode street.jpg: 3840x2160 yuv420p, ..."
std::string title_text(const Case& what);

/// The sentences below the table of a case: comparisons with peers, warnings, and what was left
/// out.
std::string notes_text(const CaseResult& result);
/// "again: COMMAND", in lines that a shell joins.
std::string command_lines(const std::string& command);

/// A table of one case; without `every_row`, of the rows that differ in `at_once` alone the one
/// with the least median.
std::string table_text(const CaseResult& result, bool every_row);
std::string primitives_text(const std::vector<PrimitiveRow>& rows);
std::string machine_text(const Facts& facts);

nlohmann::ordered_json report_json(const Report& report);
std::string report_csv(const Report& report);
std::string report_html(const Report& report);

/// The files of page/ as they were when the program was built.
extern const char* const kReportPage;

struct ComparisonText {
  std::string text;        ///< a table, the machine facts that differ, and the counts
  bool is_slower = false;  ///< at least one row is
};

/// Matches rows by case and id. A row became slower or faster if its medians differ by more than
/// `threshold` percent and their 95 % confidence intervals do not touch.
/// Throws std::exception if a report is not what report_json() writes.
ComparisonText compare_reports(const nlohmann::json& old_report, const nlohmann::json& new_report,
                               double threshold);

/// A sentence for each peer and mode: "One frame at a time, zerorun takes 0.80 of libjpeg-turbo's
/// time (cpu, host>host; 1 thread)." A peer with several backends has one sentence, which names the
/// fastest. The peer's fastest row is compared with zerorun's row of the same device and path: one
/// frame at a time with as many threads, if there is such a row, else with the fastest.
std::vector<std::string> sentences(const CaseResult& result);

/// Names the rows whose 95th percentile is more than twice the median; empty if there is none.
std::vector<std::string> warnings(const CaseResult& result);

/// If more than a quarter of the processors were busy before the measurement. `load` is the
/// system's mean number of running threads; < 0 = not known.
std::optional<std::string> load_warning(double load, unsigned processors);

/// Of the terminal.
inline constexpr std::size_t kTextColumns = 100;

/// Breaks `text` at spaces. `at_break` is written where a line ends (" \" keeps a command one
/// command), `indent` spaces before each line but the first. A word longer than a line stays whole.
std::string wrapped(std::string_view text, std::size_t indent, std::string_view at_break = "");

struct TableColumn {
  std::string heading;
  int rank = 0;  ///< columns of the highest rank are left out first; rank 0 always stays
  bool is_left = false;
};

/// Columns as wide as their longest cell. Those that do not fit into kTextColumns are left out.
class TextTable {
 public:
  explicit TextTable(std::vector<TableColumn> columns);
  /// One cell for each column.
  void add(std::vector<std::string> cells);
  std::string text() const;

 private:
  std::vector<bool> fitting() const;
  std::string line(const std::vector<std::string>& cells, const std::vector<bool>& shown) const;

  std::vector<TableColumn> columns_;
  std::vector<std::size_t> widths_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace zerorun::app::bench
