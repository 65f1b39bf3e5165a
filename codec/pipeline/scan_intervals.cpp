// The restart intervals of a scan on the CPU: where the data of each lie, and how far it is
// decoded.
// SPDX-License-Identifier: MIT
#include "codec/pipeline/scan_intervals.hpp"

#include <algorithm>

#include "codec/pipeline/image_part.hpp"

namespace zerorun {

void ScanIntervals::begin(const ScanLayout& layout, std::span<const EntropySegment> segments) {
  segments_ = segments;
  // No segment takes more than three intervals (plan_restarts()), so that all from the result on
  // are lost. A few bytes then cost the same whatever the size of the image.
  const std::span data = segments.first(segments.size() - 1);
  const std::int64_t reached =
      std::min(layout.intervals(), 3 * static_cast<std::int64_t>(data.size()) + 2);
  plan_restarts(data, reached, plan_);
  states_.assign(static_cast<std::size_t>(reached), {});
  for (std::int64_t i = 0; i < reached; ++i) {
    IntervalState& state = (*this)[i];
    state.at.mcu = i * layout.interval_mcus();
    state.end_mcu = std::min(state.at.mcu + layout.interval_mcus(), layout.mcus());
    const std::int64_t segment = plan_.segment_of_interval[static_cast<std::size_t>(i)];
    state.is_lost = segment == kLostInterval;
    if (state.is_lost) continue;
    state.at.bit = segments[static_cast<std::size_t>(segment)].first_byte * 8;
    state.end_bit = segments[static_cast<std::size_t>(segment) + 1].first_byte * 8;
  }
}

namespace {

/// Behind the last MCU of the window among the first `count` of the scan; 0: there is none.
std::int64_t last_wanted(const McuWindow& window, std::int64_t wide, std::int64_t count) {
  std::int64_t row = (count - 1) / wide, columns = (count - 1) % wide + 1;
  if (row >= window.y_end) {
    row = window.y_end - 1;
    columns = wide;
  }
  if (columns <= window.x) {
    --row;
    columns = wide;
  }
  return row < window.y ? 0 : row * wide + std::min(columns, window.x_end);
}

}  // namespace

void ScanIntervals::limit(const ScanHeader& scan, const PlaneView* planes) {
  const ScanLayout& layout = scan.layout;
  const McuWindow window = mcu_window(layout, [&](int i) -> const PlaneView& {
    return planes[scan.components[static_cast<std::size_t>(i)]];
  });
  if (window.covers(layout)) return;
  for (IntervalState& state : states_) {
    const std::int64_t end = last_wanted(window, layout.mcus_wide, state.end_mcu);
    state.is_cut = end < state.end_mcu;
    if (end > state.at.mcu)
      state.end_mcu = end;
    else
      state.at.mcu = state.end_mcu;
  }
}

void ScanIntervals::report(const ScanLayout& layout, std::span<const std::uint8_t> data,
                           ScanOutcome& outcome) {
  results_.clear();
  for (const IntervalState& state : states_)
    results_.push_back({state.fault,
                        state.is_cut && state.fault == Errc::ok ? state.end_bit : state.at.bit,
                        state.end_bit});
  report_scan(data, segments_, plan_, results_, outcome);
  outcome.intervals = layout.intervals();
  outcome.concealed_intervals += layout.intervals() - reached();
}

void ScanIntervals::finish(const ScanHeader& scan, std::span<const std::uint8_t> data,
                           FlatComponents& flat, ScanOutcome& outcome) {
  const ScanLayout& layout = scan.layout;
  report(layout, data, outcome);
  flat_.clear();
  for (const IntervalState& state : states_) {
    if (state.at.mcu == state.end_mcu) continue;
    flat_.push_back({state.at.mcu, state.end_mcu, {}});
    std::copy_n(state.at.dc, kMaxDecodedComponents, flat_.back().dc);
  }
  if (states_.back().end_mcu < layout.mcus())
    flat_.push_back({states_.back().end_mcu, layout.mcus(), {}});
  flat.set(scan, flat_);
}

}  // namespace zerorun
