// The restart intervals of a scan.
// SPDX-License-Identifier: MIT
#include "codec/pipeline/scan_intervals.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "codec/arith/dct8.hpp"
#include "codec/arith/quant.hpp"

namespace zerorun {

void FlatComponents::begin() {
  for (Component& component : components_) component.runs.clear();
}

void FlatComponents::set(const ScanHeader& scan, std::span<const FlatMcus> flat) {
  for (std::size_t i = 0; i < scan.components.size(); ++i) {
    Component& component = components_[scan.components[i]];
    component.layout = scan.layout;
    component.index = static_cast<int>(i);
    component.quant = scan.quant[i][0];
    component.runs.clear();
    for (const FlatMcus& mcus : flat) component.runs.push_back({mcus.first, mcus.end, mcus.dc[i]});
  }
}

template <typename Fill>
void FlatComponents::for_each(ThreadPool& pool, const Fill& fill) const {
  for (int c = 0; c < kMaxDecodedComponents; ++c) {
    const Component& component = components_[c];
    if (component.runs.empty()) continue;
    const ScanLayout& layout = component.layout;
    const ScanLayout::Component& shape = layout.component[component.index];
    pool.run(layout.mcus_high, [&](std::int64_t row, int) {
      const std::int64_t start = row * layout.mcus_wide, stop = start + layout.mcus_wide;
      const auto y = static_cast<std::int32_t>(row * shape.v);
      auto run = std::ranges::upper_bound(component.runs, start, {}, &Run::end);
      for (; run != component.runs.end() && run->first < stop; ++run) {
        const auto x = static_cast<std::int32_t>((std::max(run->first, start) - start) * shape.h);
        const auto x_end = static_cast<std::int32_t>((std::min(run->end, stop) - start) * shape.h);
        fill(c, Blocks{x, std::min(x_end, shape.blocks_wide), y,
                       std::min(y + shape.v, shape.blocks_high), run->dc});
      }
    });
  }
}

void FlatComponents::fill_planes(ThreadPool& pool, const PlaneView* planes) const {
  for_each(pool, [&](int c, const Blocks& blocks) {
    const PlaneView& plane = planes[c];
    // All transforms give the same sample.
    const std::int32_t edge = kBlockEdge >> plane.shrink;
    const std::int32_t x = std::max(0, (blocks.x - plane.block_x) * edge);
    const std::int32_t x_end = std::min((blocks.x_end - plane.block_x) * edge, plane.width);
    if (plane.data == nullptr || x >= x_end) return;
    const std::uint8_t sample = flat_sample(dequantise(blocks.dc, components_[c].quant));
    const std::int32_t y_end = std::min((blocks.y_end - plane.block_y) * edge, plane.height);
    for (std::int32_t y = std::max(0, (blocks.y - plane.block_y) * edge); y < y_end; ++y)
      std::memset(plane.data + y * plane.stride_bytes + x, sample,
                  static_cast<std::size_t>(x_end - x));
  });
}

void FlatComponents::fill_coefficients(ThreadPool& pool, StoredFrame& out) const {
  for_each(pool, [&](int c, const Blocks& blocks) {
    const StoredBlocks& to = out.blocks()[c];
    for (std::int32_t y = blocks.y; y < blocks.y_end; ++y) {
      const std::int64_t row = std::int64_t{y} * to.blocks_wide;
      std::fill(to.dc + row + blocks.x, to.dc + row + blocks.x_end, blocks.dc);
      std::fill(to.nonzero + row + blocks.x, to.nonzero + row + blocks.x_end, std::uint64_t{0});
    }
  });
}

namespace {

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

/// MCUs of a scan: columns [x, x_end), rows [y, y_end).
struct McuWindow {
  std::int64_t x, x_end, y, y_end;
};

/// Those that hold blocks of the planes, which have one entry a component of the frame.
McuWindow mcu_window(const ScanHeader& scan, const PlaneView* planes) {
  const ScanLayout& layout = scan.layout;
  McuWindow window{layout.mcus_wide, 0, layout.mcus_high, 0};
  for (int i = 0; i < layout.components; ++i) {
    const PlaneView& plane = planes[scan.components[static_cast<std::size_t>(i)]];
    const auto& shape = layout.component[i];
    const std::int32_t edge = kBlockEdge >> plane.shrink;
    const std::int64_t x_end = plane.block_x + ceil_div(plane.width, edge);
    const std::int64_t y_end = plane.block_y + ceil_div(plane.height, edge);
    window.x = std::min<std::int64_t>(window.x, plane.block_x / shape.h);
    window.y = std::min<std::int64_t>(window.y, plane.block_y / shape.v);
    window.x_end = std::max(window.x_end, ceil_div(x_end, std::int64_t{shape.h}));
    window.y_end = std::max(window.y_end, ceil_div(y_end, std::int64_t{shape.v}));
  }
  return window;
}

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

void ScanIntervals::limit(const ScanHeader& scan, const PlaneView* planes) {
  const ScanLayout& layout = scan.layout;
  const McuWindow window = mcu_window(scan, planes);
  if (window.x == 0 && window.y == 0 && window.x_end >= layout.mcus_wide &&
      window.y_end >= layout.mcus_high)
    return;
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
  outcome.intervals = layout.intervals();
  outcome.concealed_intervals += layout.intervals() - reached();
  const auto note = [&](Status problem) {
    if (outcome.problem || problem.byte_offset() < outcome.problem.byte_offset())
      outcome.problem = std::move(problem);
  };
  if (plan_.first_problem_segment >= 0) note(order_problem(segments_, plan_));
  for (std::size_t i = 0; i < states_.size(); ++i) {
    const IntervalState& state = states_[i];
    const bool is_sound = state.fault == Errc::ok;
    if (state.is_lost || !is_sound) ++outcome.concealed_intervals;
    const std::uint64_t spare_bits = state.is_cut ? 0 : state.end_bit - state.at.bit;
    if (state.is_lost || (is_sound && spare_bits < 8)) continue;
    const EntropySegment& segment =
        segments_[static_cast<std::size_t>(plan_.segment_of_interval[i])];
    if (!outcome.problem &&
        segment.source_byte > static_cast<std::uint64_t>(outcome.problem.byte_offset()))
      continue;  // it is not the first: no need to walk through the data
    const std::uint64_t clean = is_sound ? (state.at.bit + 7) / 8 : state.at.bit / 8;
    note(Status(is_sound ? Errc::extraneous_data : state.fault,
                is_sound ? std::to_string(spare_bits / 8) + " bytes" : "")
             .at_byte(static_cast<std::int64_t>(source_offset(data, segment, clean)))
             .in_interval(static_cast<std::int64_t>(i)));
  }
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
