// All scans of a progressive frame on the CPU.
// SPDX-License-Identifier: MIT
#include "codec/pipeline/progressive_frame.hpp"

#include <algorithm>

namespace zerorun {

void ProgressiveFrame::decode(const FrameHeader& frame, std::span<const FrameScan> scans,
                              const PlaneView* planes, ThreadPool* pool, const Unstuff& unstuff,
                              std::span<ScanOutcome> outcomes, StoredFrame& out) {
  for (const FrameScan& scan : scans) out.take_tables(scan.header);
  progress_ = std::make_unique<Progress[]>(scans.size());
  const auto workers = static_cast<std::size_t>(pool == nullptr ? 1 : pool->workers());
  while (workers_.size() < workers) workers_.push_back(std::make_unique<Worker>());
  const auto job = [&](std::int64_t number, int worker) {
    const auto scan = static_cast<std::size_t>(number);
    // Also after an exception: others wait for it.
    struct Finish {
      Progress& progress;
      ~Finish() { progress.finish(); }
    } const finish{progress_[scan]};
    const ScanHeader& header = scans[scan].header;
    constexpr int kDcAlone = 3;
    if (planes != nullptr && !header.is_dc() && planes[header.components[0]].shrink == kDcAlone) {
      outcomes[scan].consumed_bytes = scans[scan].data.size();
      outcomes[scan].intervals = header.layout.intervals();
      return;
    }
    decode_scan(frame, scans, scan, planes, unstuff(scan, scans[scan].data),
                *workers_[static_cast<std::size_t>(worker)], outcomes[scan], out.blocks());
  };
  const auto jobs = static_cast<std::int64_t>(scans.size());
  // The scans start in order, so that the first of those at work waits for none.
  if (pool != nullptr)
    pool->run(jobs, job);
  else
    for (std::int64_t i = 0; i < jobs; ++i) job(i, 0);
}

void ProgressiveFrame::decode_scan(const FrameHeader& frame, std::span<const FrameScan> scans,
                                   std::size_t scan, const PlaneView* planes,
                                   const CleanScan& clean, Worker& worker, ScanOutcome& outcome,
                                   const StoredBlocks* blocks) {
  const ScanHeader& header = scans[scan].header;
  // The last scan before this one of each component, of DC or of AC: DC and AC lie apart.
  const Progress* before[kMaxDecodedComponents] = {};
  for (std::size_t earlier = 0; earlier < scan; ++earlier)
    for (std::size_t i = 0; i < header.components.size(); ++i)
      if (scans[earlier].header.is_dc() == header.is_dc() &&
          std::ranges::count(scans[earlier].header.components, header.components[i]) > 0)
        before[i] = &progress_[earlier];
  // A row of a scan with one component is a row of its blocks.
  const std::int32_t rows_of_mcu =
      header.components.size() == 1
          ? frame.components[static_cast<std::size_t>(header.components[0])].v
          : 1;
  const auto wait_for = [&](std::int32_t row) {
    for (const Progress* other : before)
      if (other != nullptr) other->wait_for(row);
  };
  // A run of EOBs passes over rows, and damage over all that follow: the scans behind this one wait
  // for it alone, so it must not overtake those before it.
  const auto begin_row = [&](std::int32_t row) {
    const std::int32_t mcu_row = row / rows_of_mcu;
    if (mcu_row > 0) wait_for(mcu_row - 1);
    progress_[scan].reach(mcu_row);
    wait_for(mcu_row);
  };
  worker.intervals.begin(header.layout, clean.segments);
  if (planes != nullptr) worker.intervals.limit(header, planes);
  worker.decoder.begin_scan(header, clean.bytes, blocks);
  for (std::int64_t i = 0; i < worker.intervals.reached(); ++i)
    if (worker.intervals[i].has_data()) worker.decoder.decode(worker.intervals[i], begin_row);
  wait_for(kAllRows - 1);
  worker.intervals.report(header.layout, scans[scan].data, outcome);
}

}  // namespace zerorun
