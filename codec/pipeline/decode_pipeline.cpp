// The common part of the CPU decode pipelines, and the one of the reference stages.
// SPDX-License-Identifier: MIT
#include "codec/pipeline/decode_pipeline.hpp"

#include <algorithm>
#include <cstring>

#include "codec/arith/zigzag.hpp"
#include "codec/pipeline/cpu_decode_pipeline.hpp"
#include "codec/pipeline/stage_table.hpp"

namespace zerorun {

void McuDecoder::begin_scan(const Scan& scan) {
  scan_ = scan;
  const ScanHeader& header = *scan.header;
  for (std::size_t d = 0; d < 4; ++d) {
    if (header.dc[d]) fill_decode_table(*header.dc[d], huffman_.dc[d]);
    if (header.ac[d]) fill_decode_table(*header.ac[d], huffman_.ac[d]);
  }
  for (std::size_t i = 0; i < header.components.size(); ++i)
    std::copy(header.quant[i].begin(), header.quant[i].end(), dequant_.table[i]);
}

void McuDecoder::decode(IntervalState& interval, std::int64_t last, int worker) {
  // Blocks that go through the stages together, so that pairs and coefficients stay in the cache.
  constexpr std::int64_t kSliceBlocks = 512;
  const std::int64_t slice_mcus =
      std::max<std::int64_t>(1, kSliceBlocks / scan_.header->layout.blocks_per_mcu);
  while (interval.at.mcu < last && interval.fault == Errc::ok)
    decode_slice(interval, std::min(slice_mcus, last - interval.at.mcu),
                 scratch_[static_cast<std::size_t>(worker)]);
}

void McuDecoder::decode_slice(IntervalState& interval, std::int64_t mcus, Scratch& scratch) {
  const ScanLayout& layout = scan_.header->layout;
  McuStart& at = interval.at;
  std::int64_t blocks = mcus * layout.blocks_per_mcu;
  RunLevel* pairs = scratch.pairs.reserve(blocks * kBlockSize);
  std::uint8_t* pair_count = scratch.pair_count.reserve(blocks);
  std::int16_t* coefficients = scratch.coefficients.reserve(blocks * kBlockSize);
  std::int16_t* diff = scratch.diff.reserve(blocks);
  BitCursor cursor{at.bit, interval.end_bit, 0, blocks, 0, Errc::ok};
  Exec exec;  // CPU stages cannot fail
  (void)stages_.huffman_decode({layout, scan_.clean, scan_.clean_bytes, &huffman_, &cursor, 1,
                                nullptr, 0, nullptr, pairs, pair_count},
                               exec);
  interval.fault = cursor.fault;
  at.bit = cursor.bit;
  if (cursor.fault != Errc::ok) mcus = cursor.good_blocks / layout.blocks_per_mcu + 1;
  blocks = mcus * layout.blocks_per_mcu;
  (void)stages_.zero_run_expand({blocks, pairs, pair_count, coefficients, diff}, exec);
  (void)stages_.dc_predict({layout, at.mcu, mcus, diff, coefficients, at.dc}, exec);
  output(at.mcu, mcus, coefficients);
  at.mcu += mcus;
}

void McuDecoder::output(std::int64_t first_mcu, std::int64_t mcus,
                        const std::int16_t* coefficients) {
  const ScanHeader& header = *scan_.header;
  if (scan_.coefficients != nullptr) {
    for (std::int64_t m = first_mcu; m < first_mcu + mcus; ++m)
      for (std::int32_t i = 0; i < header.layout.blocks_per_mcu; ++i, coefficients += kBlockSize) {
        const BlockPlace place = place_block(header.layout, m, i);
        if (!place.inside) continue;
        const StoredBlocks& to =
            scan_.coefficients
                ->blocks()[header.components[static_cast<std::size_t>(place.component)]];
        to.set_block(std::int64_t{place.y} * to.blocks_wide + place.x, coefficients);
      }
    return;
  }
  DequantIdctArgs transform{header.layout, &dequant_, first_mcu, mcus, coefficients, {}};
  for (std::size_t i = 0; i < header.components.size(); ++i)
    transform.plane[i] = scan_.planes[header.components[i]];
  Exec exec;
  (void)stages_.dequant_idct(transform, exec);
}

Status CpuDecodePipeline::begin_planes(const FrameHeader& frame, const FrameView* direct,
                                       bool luma_only) {
  coefficients_ = nullptr;
  frame_ = frame;
  flat_components_.begin();
  std::fill_n(scanned_, kMaxDecodedComponents, false);
  is_direct_ = direct != nullptr;
  for (std::size_t c = 0; c < frame.components.size(); ++c) {
    PlaneView& plane = planes_[c];
    plane = frame.components[c].plane();
    if (luma_only && c > 0) continue;
    if (is_direct_) {
      plane.data = direct->data[c];
      plane.stride_bytes = direct->stride_bytes[c];
    } else {
      plane.stride_bytes = round_up(plane.width, 64);
      plane.data =
          plane_memory_[c].reserve(plane.stride_bytes * round_up(plane.height, kBlockEdge));
    }
  }
  return Status::ok();
}

Status CpuDecodePipeline::begin_coefficients(StoredFrame& out) {
  coefficients_ = &out;
  flat_components_.begin();
  return Status::ok();
}

Status CpuDecodePipeline::decode_scan(const ScanHeader& scan, std::span<const std::uint8_t> data,
                                      ScanOutcome& outcome) {
  constexpr std::int64_t kTaskMcus = 256;  // about as many as a worker takes at a time
  for (const int c : scan.components) scanned_[c] = true;
  if (coefficients_ != nullptr) coefficients_->take_tables(scan);
  small_ = scan.layout.blocks() < least_blocks_;
  const CleanScan clean = begin_scan(scan, data, outcome.consumed_bytes);
  intervals_.begin(scan.layout, clean.segments);
  if (coefficients_ == nullptr) intervals_.limit(scan, planes_);
  decode_intervals(scan, clean, std::max<std::int64_t>(1, kTaskMcus / scan.layout.interval_mcus()));
  intervals_.finish(scan, data, flat_components_, outcome);
  return Status::ok();
}

/// Several scans at a time: a scan follows the one before it of the same component from row to row.
void CpuDecodePipeline::decode_one(const FrameHeader& frame, std::span<const FrameScan> scans,
                                   std::size_t scan, Worker& worker, ScanOutcome& outcome,
                                   const StoredBlocks* blocks) {
  // Also after an exception: others wait for it.
  struct Finish {
    Progress& progress;
    ~Finish() { progress.reach(kAllRows); }
  } const finish{progress_[scan]};
  const ScanHeader& header = scans[scan].header;
  const bool is_output = coefficients_ != nullptr;
  constexpr int kDcAlone = 3;
  if (!is_output && !header.is_dc() && planes_[header.components[0]].shrink == kDcAlone) {
    outcome.consumed_bytes = scans[scan].data.size();
    outcome.intervals = header.layout.intervals();
    return;
  }
  const CleanScan clean = unstuff(scan, scans[scan].data, outcome.consumed_bytes);
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
  if (!is_output) worker.intervals.limit(header, planes_);
  worker.decoder.begin_scan(header, clean.bytes, blocks);
  for (std::int64_t i = 0; i < worker.intervals.reached(); ++i)
    if (worker.intervals[i].has_data()) worker.decoder.decode(worker.intervals[i], begin_row);
  wait_for(kAllRows - 1);
  worker.intervals.report(header.layout, scans[scan].data, outcome);
}

Status CpuDecodePipeline::decode_progressive(const FrameHeader& frame,
                                             std::span<const FrameScan> scans,
                                             std::span<ScanOutcome> outcomes) {
  std::int64_t blocks = 0;
  for (const auto& c : frame.components) blocks += std::int64_t{c.blocks_wide} * c.blocks_high;
  small_ = blocks < least_blocks_;
  begin_progressive(scans.size());
  const bool is_output = coefficients_ != nullptr;
  StoredFrame& out = is_output ? *coefficients_ : stored_;
  if (!is_output) stored_.clear(frame);
  for (const FrameScan& scan : scans) out.take_tables(scan.header);
  progress_ = std::make_unique<Progress[]>(scans.size());
  while (std::ssize(workers_) < (small_ ? 1 : pool_.workers()))
    workers_.push_back(std::make_unique<Worker>());
  // The scans start in order, so that the first of those at work waits for none.
  run_jobs(std::ssize(scans), [&](std::int64_t number, int worker) {
    const auto scan = static_cast<std::size_t>(number);
    decode_one(frame, scans, scan, *workers_[static_cast<std::size_t>(worker)], outcomes[scan],
               out.blocks());
  });
  if (is_output) return Status::ok();
  for (std::size_t c = 0; c < frame_.components.size(); ++c) {
    scanned_[c] = true;
    if (planes_[c].data != nullptr) transform_stored(c);
  }
  return Status::ok();
}

CpuDecodePipeline::CleanScan CpuDecodePipeline::begin_scan(const ScanHeader& /*scan*/,
                                                           std::span<const std::uint8_t> data,
                                                           std::uint64_t& consumed_bytes) {
  begin_progressive(1);
  return unstuff(0, data, consumed_bytes);
}

bool CpuDecodePipeline::read_symbols(const FrameHeader& frame, std::span<const FrameScan> scans,
                                     ColorModel color, ScanSymbols& out) {
  const auto& [scan, data] = scans[0];
  if (frame.progressive || scan.components.size() != frame.components.size()) return false;
  ScanOutcome outcome;
  const CleanScan clean = CpuDecodePipeline::begin_scan(scan, data, outcome.consumed_bytes);
  intervals_.begin(scan.layout, clean.segments);
  if (intervals_.reached() < scan.layout.intervals()) return false;
  std::uint8_t table[kMaxDecodedComponents];
  for (int c = 0; c < scan.layout.components; ++c) table[c] = table_of(color, c);
  out.begin_scan(scan, clean.bytes, clean.segments.back().first_byte, table);
  for (std::int64_t i = 0; i < scan.layout.intervals(); ++i)
    if (!intervals_[i].has_data() || !out.read(intervals_[i])) return false;
  intervals_.report(scan.layout, data, outcome);
  return outcome.problem.is_ok();
}

Status CpuDecodePipeline::finish_frame(ColorModel model, ChromaUpsampling upsampling,
                                       const FrameView& out) {
  fill_gaps();
  if (is_direct_) return Status::ok();
  constexpr int kRows = 64;
  const ColorUpsampleArgs args = make_upsample_args(frame_, planes_, model, upsampling, out, kRows);
  run_jobs(ceil_div(out.height, kRows), [&](std::int64_t band, int worker) {
    ColorUpsampleArgs rows = args;
    rows.first_row = static_cast<std::int32_t>(band) * kRows;
    convert(rows, worker);
  });
  return Status::ok();
}

Status CpuDecodePipeline::finish_planes(std::vector<ComponentPlane>& out) {
  fill_gaps();
  out.resize(frame_.components.size());
  for (std::size_t c = 0; c < out.size(); ++c) {
    const PlaneView& plane = planes_[c];
    out[c].width = plane.width;
    out[c].height = plane.height;
    const auto width = static_cast<std::size_t>(plane.width);
    out[c].samples.resize(width * static_cast<std::size_t>(plane.height));
    for (int y = 0; y < plane.height; ++y)
      std::memcpy(out[c].samples.data() + static_cast<std::size_t>(y) * width,
                  plane.data + y * plane.stride_bytes, width);
  }
  return Status::ok();
}

Status CpuDecodePipeline::finish_coefficients() {
  flat_components_.fill_coefficients(pool_, *coefficients_);
  coefficients_ = nullptr;
  return Status::ok();
}

/// Fills what the scans have left out, and components that no scan has with 128.
void CpuDecodePipeline::fill_gaps() {
  flat_components_.fill_planes(pool_, planes_);
  for (std::size_t c = 0; c < frame_.components.size(); ++c) {
    const PlaneView& plane = planes_[c];
    if (scanned_[c] || plane.data == nullptr) continue;
    for (int y = 0; y < plane.height; ++y)
      std::memset(plane.data + y * plane.stride_bytes, 128, static_cast<std::size_t>(plane.width));
  }
}

namespace {

/// Restart intervals go through the reference stages on several threads.
class ReferenceDecodePipeline final : public CpuDecodePipeline {
 public:
  ReferenceDecodePipeline(int threads, const StageTable& stages)
      : CpuDecodePipeline(threads, 0), stages_(stages), mcus_(stages, pool_.workers()) {}

 private:
  /// The clean bytes of a scan. Keeps its memory.
  class CleanBytes {
   public:
    CleanScan unstuff(const StageTable& stages, std::span<const std::uint8_t> data,
                      std::uint64_t& consumed_bytes) {
      const auto size = static_cast<std::int64_t>(data.size());
      EntropySegment* const segments = segments_.reserve(size / 2 + 2);
      std::uint8_t* const bytes = bytes_.reserve(size + kProgressiveReadAhead);
      std::uint64_t total = 0;
      Exec exec;
      (void)stages.byte_unstuff(
          {data.data(), data.size(), bytes, segments, &total, &consumed_bytes}, exec);
      std::fill_n(bytes + segments[total].first_byte, kProgressiveReadAhead, std::uint8_t{0});
      return {bytes, {segments, total + 1}};
    }

   private:
    Buffer<std::uint8_t> bytes_;
    Buffer<EntropySegment> segments_;
  };

  void decode_intervals(const ScanHeader& scan, const CleanScan& clean,
                        std::int64_t per_task) override {
    mcus_.begin_scan(
        {&scan, clean.bytes, clean.segments.back().first_byte, planes_, coefficients_});
    pool_.run(ceil_div(intervals_.reached(), per_task), [&](std::int64_t task, int worker) {
      const std::int64_t end = std::min((task + 1) * per_task, intervals_.reached());
      for (std::int64_t i = task * per_task; i < end; ++i) {
        IntervalState& interval = intervals_[i];
        if (interval.has_data()) mcus_.decode(interval, interval.end_mcu, worker);
      }
    });
  }

  void begin_progressive(std::size_t scans) override {
    clean_scans_.resize(std::max(clean_scans_.size(), scans));
  }
  CleanScan unstuff(std::size_t scan, std::span<const std::uint8_t> data,
                    std::uint64_t& consumed_bytes) override {
    return clean_scans_[scan].unstuff(stages_, data, consumed_bytes);
  }

  /// A row of blocks at a time.
  void transform_stored(std::size_t c) override {
    const FrameHeader::Component& component = frame_.components[c];
    const StoredBlocks& stored = stored_.blocks(c);
    const ComponentSpec spec;
    const int only = 0;
    DequantTables tables{};
    std::copy(stored_.quant(c).begin(), stored_.quant(c).end(), tables.table[0]);
    const DequantIdctArgs row{
        make_scan_layout(stored.blocks_wide * kBlockEdge, stored.blocks_high * kBlockEdge, &spec, 1,
                         &only, 1, 0),
        &tables,
        0,
        component.blocks_wide,
        nullptr,
        {planes_[c]}};
    pool_.run(component.blocks_high, [&](std::int64_t y, int) {
      DequantIdctArgs args = row;
      args.first_mcu = (y + component.block_y) * stored.blocks_wide + component.block_x;
      std::vector<std::int16_t> blocks(static_cast<std::size_t>(component.blocks_wide) *
                                       kBlockSize);
      for (std::int64_t x = 0; x < component.blocks_wide; ++x)
        stored.copy_block(args.first_mcu + x, blocks.data() + x * kBlockSize);
      args.coefficients = blocks.data();
      Exec exec;
      (void)stages_.dequant_idct(args, exec);
    });
  }

  void convert(const ColorUpsampleArgs& rows, int /*worker*/) override {
    Exec exec;
    (void)stages_.color_upsample(rows, exec);  // CPU stages cannot fail
  }

  const StageTable& stages_;
  McuDecoder mcus_;
  std::vector<CleanBytes> clean_scans_;
};

}  // namespace

std::unique_ptr<DecodePipeline> make_cpu_decode_pipeline(int threads, const StageTable& stages) {
  return std::make_unique<ReferenceDecodePipeline>(threads, stages);
}

}  // namespace zerorun
