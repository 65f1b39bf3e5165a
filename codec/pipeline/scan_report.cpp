// Cursors and segments -> ScanOutcome.
// SPDX-License-Identifier: MIT
#include "codec/pipeline/scan_report.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

namespace zerorun {
namespace {

Status problem_at(Errc code, std::string detail, std::uint64_t offset, std::int64_t interval) {
  return Status(code, std::move(detail))
      .at_byte(static_cast<std::int64_t>(offset))
      .in_interval(interval);
}

/// The order is broken where the segment begins. Its marker lies before that.
Status order_problem(std::span<const EntropySegment> segments, const RestartPlan& plan) {
  constexpr std::uint64_t kMarkerBytes = 2;
  const std::uint64_t begin =
      segments[static_cast<std::size_t>(plan.first_problem_segment)].source_byte;
  Status problem(Errc::restart_out_of_order);
  if (plan.only_surplus)
    problem = Status(Errc::extraneous_data,
                     std::to_string(segments.back().source_byte - begin + kMarkerBytes) +
                         " bytes from a restart marker behind the last interval on");
  return std::move(problem).at_byte(static_cast<std::int64_t>(begin));
}

}  // namespace

std::uint64_t source_offset(std::span<const std::uint8_t> data, const EntropySegment& segment,
                            std::uint64_t clean) {
  std::uint64_t at = segment.source_byte, seen = segment.first_byte;
  while (seen < clean && at < data.size()) {
    // Up to the next FF each byte is a clean one; a scan has hundreds of them in a row.
    const std::uint64_t most = std::min<std::uint64_t>(clean - seen, data.size() - at);
    const void* const ff = std::memchr(data.data() + at, 0xFF, static_cast<std::size_t>(most));
    const std::uint64_t plain =
        ff == nullptr
            ? most
            : static_cast<std::uint64_t>(static_cast<const std::uint8_t*>(ff) - data.data()) - at;
    at += plain;
    seen += plain;
    if (ff == nullptr) continue;
    // One clean byte: FF, more FF and 00.
    ++seen;
    while (at < data.size() && data[at] == 0xFF) ++at;
    ++at;
  }
  return std::min<std::uint64_t>(at, data.size());
}

void report_scan(std::span<const std::uint8_t> data, std::span<const EntropySegment> segments,
                 const RestartPlan& plan, std::span<const IntervalResult> intervals,
                 ScanOutcome& outcome) {
  outcome.intervals = static_cast<std::int64_t>(intervals.size());
  const auto note = [&](Status problem) {
    if (outcome.problem || problem.byte_offset() < outcome.problem.byte_offset())
      outcome.problem = std::move(problem);
  };
  if (plan.first_problem_segment >= 0) note(order_problem(segments, plan));
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    const IntervalResult& result = intervals[i];
    const std::int64_t segment = plan.segment_of_interval[i];
    const bool lost = segment == kLostInterval;
    if (lost || result.fault != Errc::ok) ++outcome.concealed_intervals;
    const bool spare = result.fault == Errc::ok && result.end_bit - result.bit >= 8;
    if (lost || (result.fault == Errc::ok && !spare)) continue;
    if (!outcome.problem && segments[static_cast<std::size_t>(segment)].source_byte >
                                static_cast<std::uint64_t>(outcome.problem.byte_offset()))
      continue;  // it is not the first: no need to walk through the data
    const std::uint64_t clean = spare ? (result.bit + 7) / 8 : result.bit / 8;
    const std::uint64_t offset =
        source_offset(data, segments[static_cast<std::size_t>(segment)], clean);
    note(problem_at(spare ? Errc::extraneous_data : result.fault,
                    spare ? std::to_string((result.end_bit - result.bit) / 8) + " bytes" : "",
                    offset, static_cast<std::int64_t>(i)));
  }
}

}  // namespace zerorun
