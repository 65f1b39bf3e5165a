// The page with the report's data in it.
// SPDX-License-Identifier: MIT
#include <string>

#include "apps/bench/report/report.hpp"

namespace zerorun::app::bench {

std::string report_html(const Report& report) {
  std::string data = report_json(report).dump();
  // The browser ends a script at "</", whatever stands around it.
  for (std::size_t at = 0; (at = data.find('<', at)) != std::string::npos;)
    data.replace(at, 1, "\\u003c");
  std::string page = report_page();
  static constexpr std::string_view kPlace = "@REPORT@";
  return page.replace(page.find(kPlace), kPlace.size(), data);
}

}  // namespace zerorun::app::bench
