// The table of --contents: a line for each case, with its time per coded byte beside the photo's.
// SPDX-License-Identifier: MIT
#include <fmt/core.h>

#include <algorithm>

#include "apps/bench/measure/statistics.hpp"
#include "apps/bench/report/report.hpp"
#include "apps/common/text.hpp"

namespace zerorun::app::bench {
namespace {

/// What a line shows of a case, in microseconds; 0: there is no such row.
struct Content {
  double bytes = 0, one = 0, many = 0, peer = 0;
  std::string peer_name;
};

bool is_on_gpu(const CaseResult& result) {
  return std::any_of(result.rows.begin(), result.rows.end(),
                     [](const Row& row) { return row.device != "cpu"; });
}

void keep_least(double& least, double value) {
  if (least == 0 || value < least) least = value;
}

Content content_of(const CaseResult& result) {
  Content content;
  const bool gpu = is_on_gpu(result);
  for (const Row& row : result.rows) {
    if ((row.device != "cpu") != gpu || row.coder == "copy") continue;
    const double median = summarise(row.microseconds).median;
    if (row.coder == "zerorun" && row.mode == Mode::throughput) keep_least(content.many, median);
    if (row.mode != Mode::latency) continue;
    if (row.coder == "zerorun") {
      keep_least(content.one, median);
      content.bytes = row.stream_bytes;
    } else if (!row.coder.starts_with("zerorun") && (content.peer == 0 || median < content.peer)) {
      content.peer = median;
      content.peer_name = row.coder.substr(0, row.coder.find(' '));
    }
  }
  return content;
}

std::string ratio(double time, const Content& of, double photo_time, const Content& photo) {
  if (time == 0 || photo_time == 0) return "-";
  return fmt::format("{:.2f}", time / of.bytes / (photo_time / photo.bytes));
}

}  // namespace

std::string contents_heading() {
  return fmt::format("{:<7} {:>3} {:<8} {:<7} {:>10} {:>8} {:>8} {:>8} {:>9} {:>8}  {}\n",
                     "content", "q", "tables", "restart", "bytes", "one us", "many us", "one/byte",
                     "many/byte", "peer us", "fastest peer");
}

std::string contents_line(const CaseResult& result, const CaseResult& photo) {
  const Content own = content_of(result), first = content_of(photo);
  const Case& what = result.what;
  return fmt::format("{:<7} {:>3} {:<8} {:<7} {:>10} {:>8.1f} {:>8.1f} {:>8} {:>9} {:>8.0f}  {}\n",
                     what.input.substr(what.input.rfind(':') + 1), what.quality, name(what.huffman),
                     what.restart, with_commas(static_cast<std::int64_t>(own.bytes)), own.one,
                     own.many, ratio(own.one, own, first.one, first),
                     ratio(own.many, own, first.many, first), own.peer,
                     own.peer_name + damage_text(what.damage));
}

}  // namespace zerorun::app::bench
