// Compares two reports: what changed by more than the noise.
// SPDX-License-Identifier: MIT
#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <utility>

#include "apps/bench/report/report.hpp"

namespace zerorun::app::bench {
namespace {

using Json = nlohmann::json;

enum class Change {
  none,    ///< within the threshold, or within the noise
  slower,  ///< a regression
  faster,
  only_old,
  only_new,
};

struct RowName {
  std::string of_case, id;
  auto operator<=>(const RowName&) const = default;
};

struct Comparison {
  RowName name;
  Change change = Change::none;
  double old_us = 0, new_us = 0;  ///< medians
  double percent = 0;             ///< of the old median; positive is slower
  double bytes_percent = 0;       ///< of the old stream size; positive is larger
};

/// Rows by name, in the order of the report.
struct Rows {
  std::vector<RowName> order;
  std::map<RowName, Json> by_name;
};

std::string case_name(const Json& entry) {
  // Reports of older builds do not say who wrote the streams: zerorun.
  const std::string streams = entry.value("streams", "zerorun");
  const std::string tune = entry.value("tune", "exact");
  const std::string more =
      std::string(entry.value("mixed", false) ? " mixed" : "") +
      (entry.value("progressive", false) ? " progressive" : "") +
      (tune == "exact" ? "" : " tune " + tune + " " + entry.value("effort", "fast")) +
      (streams == "zerorun" ? "" : " streams " + streams);
  const auto size = entry.value("target_size", std::int64_t{0});
  return fmt::format("{} {} {} {} {} {} restart {}{}", entry.at("operation").get<std::string>(),
                     entry.at("input").get<std::string>(), entry.at("pixels").get<std::string>(),
                     size != 0 ? fmt::format("{} bytes", size)
                               : fmt::format("q{}", entry.at("quality").get<int>()),
                     entry.at("subsampling").get<std::string>(),
                     entry.at("huffman").get<std::string>(), entry.at("restart").get<std::string>(),
                     more);
}

Rows rows_of(const Json& report) {
  if (report.at("format") != "zerorun-bench" || report.at("version") != kReportVersion)
    throw std::runtime_error("not a report of this version of zerorun bench");
  Rows rows;
  for (const Json& entry : report.at("cases"))
    for (const Json& row : entry.at("rows")) {
      const RowName name{case_name(entry), row.at("id").get<std::string>()};
      if (rows.by_name.emplace(name, row).second) rows.order.push_back(name);
    }
  for (const Json& row : report.at("primitives")) {
    const RowName name{"primitives", row.at("id").get<std::string>()};
    if (rows.by_name.emplace(name, row).second) rows.order.push_back(name);
  }
  return rows;
}

double change_percent(double before, double after) {
  return before > 0 ? 100 * (after - before) / before : 0;
}

Comparison compare_rows(const RowName& name, const Json& before, const Json& after,
                        double threshold) {
  Comparison c{name, Change::none, before.at("median_us"), after.at("median_us"), 0, 0};
  c.percent = change_percent(c.old_us, c.new_us);
  c.bytes_percent =
      change_percent(before.value("stream_bytes", 0.0), after.value("stream_bytes", 0.0));
  const double old_low = before.at("median_low_us"), old_high = before.at("median_high_us");
  const double new_low = after.at("median_low_us"), new_high = after.at("median_high_us");
  if (c.percent > threshold && new_low > old_high) c.change = Change::slower;
  if (c.percent < -threshold && new_high < old_low) c.change = Change::faster;
  return c;
}

std::string line(const Comparison& c) {
  switch (c.change) {
    case Change::only_old:
      return fmt::format("{:<7} {:>10.1f} {:>10} {:>8} {:>8}  {}\n", "gone", c.old_us, "", "", "",
                         c.name.id);
    case Change::only_new:
      return fmt::format("{:<7} {:>10} {:>10.1f} {:>8} {:>8}  {}\n", "new", "", c.new_us, "", "",
                         c.name.id);
    default:
      return fmt::format("{:<7} {:>10.1f} {:>10.1f} {:>+7.1f}% {:>8}  {}\n",
                         c.change == Change::slower   ? "SLOWER"
                         : c.change == Change::faster ? "faster"
                                                      : "same",
                         c.old_us, c.new_us, c.percent,
                         c.bytes_percent == 0 ? "" : fmt::format("{:+.2f}%", c.bytes_percent),
                         c.name.id);
  }
}

std::string machine_changes(const Json& old_report, const Json& new_report) {
  const Json& before = old_report.at("machine");
  const Json& after = new_report.at("machine");
  std::string text;
  for (const auto& [key, value] : after.items())
    if (key != "date" && key.find("behind the last row") == std::string::npos &&
        before.contains(key) && before.at(key) != value)
      text += wrapped(fmt::format("{}: {} -> {}", key, before.at(key).get<std::string>(),
                                  value.get<std::string>()),
                      2) +
              "\n";
  return text;
}

std::vector<Comparison> compare_all(const Json& old_report, const Json& new_report,
                                    double threshold) {
  const Rows before = rows_of(old_report), after = rows_of(new_report);
  std::vector<Comparison> out;
  for (const RowName& name : before.order) {
    const Json& row = before.by_name.at(name);
    const auto found = after.by_name.find(name);
    if (found == after.by_name.end()) {
      out.push_back({name, Change::only_old, row.at("median_us"), 0, 0, 0});
    } else {
      out.push_back(compare_rows(name, row, found->second, threshold));
    }
  }
  for (const RowName& name : after.order)
    if (!before.by_name.contains(name))
      out.push_back({name, Change::only_new, 0, after.by_name.at(name).at("median_us"), 0, 0});
  return out;
}

}  // namespace

ComparisonText compare_reports(const Json& old_report, const Json& new_report, double threshold) {
  const auto rows = compare_all(old_report, new_report, threshold);
  std::string text = machine_changes(old_report, new_report);
  text += fmt::format("{:<7} {:>10} {:>10} {:>8} {:>8}  {}\n", "", "old us", "new us", "time",
                      "bytes", "row");
  const std::string* heading = nullptr;
  for (const Comparison& row : rows) {
    if (heading == nullptr || *heading != row.name.of_case)
      text += wrapped(row.name.of_case, 2) + "\n";
    heading = &row.name.of_case;
    text += line(row);
  }
  const auto count = [&rows](Change change) {
    return std::count_if(rows.begin(), rows.end(),
                         [change](const Comparison& row) { return row.change == change; });
  };
  text += fmt::format(
      "{} slower, {} faster, {} the same, {} only in the old report, {} only in the new one\n",
      count(Change::slower), count(Change::faster), count(Change::none), count(Change::only_old),
      count(Change::only_new));
  return {std::move(text), count(Change::slower) > 0};
}

}  // namespace zerorun::app::bench
