// The CPU decode pipeline: restart intervals go through the stages on several threads.
// SPDX-License-Identifier: MIT
#include "codec/pipeline/decode_pipeline.hpp"

#include <algorithm>

#include "codec/base/buffer.hpp"
#include "codec/base/thread_pool.hpp"
#include "codec/pipeline/flat_mcus.hpp"
#include "codec/pipeline/mcu_decoder.hpp"
#include "codec/pipeline/progressive_frame.hpp"
#include "codec/pipeline/scan_intervals.hpp"
#include "codec/pipeline/stage_table.hpp"

namespace zerorun {
namespace {

/// A worker takes intervals of about this many MCUs at a time.
constexpr std::int64_t kTaskMcus = 256;

/// The clean bytes of a scan. Keeps its memory.
class CleanBytes {
 public:
  ProgressiveFrame::CleanScan unstuff(const StageTable& stages, std::span<const std::uint8_t> data,
                                      std::uint64_t& consumed_bytes) {
    const auto size = static_cast<std::int64_t>(data.size());
    EntropySegment* const segments = segments_.reserve(size / 2 + 2);
    std::uint8_t* const bytes = bytes_.reserve(size + kProgressiveReadAhead);
    std::uint64_t total = 0;
    Exec exec;
    (void)stages.byte_unstuff({data.data(), data.size(), bytes, segments, &total, &consumed_bytes},
                              exec);
    std::fill_n(bytes + segments[total].first_byte, kProgressiveReadAhead, std::uint8_t{0});
    return {bytes, {segments, total + 1}};
  }

 private:
  Buffer<std::uint8_t> bytes_;
  Buffer<EntropySegment> segments_;
};

class CpuDecodePipeline final : public DecodePipeline {
 public:
  CpuDecodePipeline(int threads, const StageTable& stages)
      : stages_(stages), pool_(threads), mcus_(stages, pool_.workers()) {}

  Status begin_planes(const FrameHeader& frame, const FrameView* direct, bool luma_only) override {
    coefficients_ = nullptr;
    frame_ = frame;
    flat_components_.begin();
    std::fill_n(scanned_, kMaxDecodedComponents, false);
    for (std::size_t c = 0; c < frame.components.size(); ++c) {
      PlaneView& plane = planes_[c];
      plane = frame.components[c].plane();
      if (luma_only && c > 0) {
        plane.data = nullptr;
      } else if (direct != nullptr) {
        plane.data = direct->data[c];
        plane.stride_bytes = direct->stride_bytes[c];
      } else {
        plane.stride_bytes = round_up(plane.width, 64);
        plane.data = plane_memory_[c].reserve(plane.stride_bytes * plane.height);
      }
    }
    return Status::ok();
  }

  Status begin_coefficients(StoredFrame& out) override {
    coefficients_ = &out;
    flat_components_.begin();
    return Status::ok();
  }

  Status decode_scan(const ScanHeader& scan, std::span<const std::uint8_t> data,
                     ScanOutcome& outcome) override {
    for (const int c : scan.components) scanned_[c] = true;
    if (coefficients_ != nullptr) coefficients_->take_tables(scan);
    const ProgressiveFrame::CleanScan clean = clean_.unstuff(stages_, data, outcome.consumed_bytes);
    intervals_.begin(scan.layout, clean.segments);
    if (coefficients_ == nullptr) intervals_.limit(scan, planes_);
    mcus_.begin_scan(
        {&scan, clean.bytes, clean.segments.back().first_byte, planes_, coefficients_});
    decode_intervals(std::max<std::int64_t>(1, kTaskMcus / scan.layout.interval_mcus()));
    intervals_.finish(scan, data, flat_components_, outcome);
    return Status::ok();
  }

  Status decode_progressive(const FrameHeader& frame, std::span<const FrameScan> scans,
                            std::span<ScanOutcome> outcomes) override {
    clean_scans_.resize(std::max(clean_scans_.size(), scans.size()));
    const auto unstuff = [&](std::size_t scan, std::span<const std::uint8_t> data) {
      return clean_scans_[scan].unstuff(stages_, data, outcomes[scan].consumed_bytes);
    };
    const bool is_output = coefficients_ != nullptr;
    if (!is_output) stored_.clear(frame);
    progressive_.decode(frame, scans, is_output ? nullptr : planes_, &pool_, unstuff, outcomes,
                        is_output ? *coefficients_ : stored_);
    if (!is_output) transform_stored();
    return Status::ok();
  }

  Status finish_frame(ColorModel model, ChromaUpsampling upsampling,
                      const FrameView& out) override {
    fill_gaps();
    if (out.data[0] == planes_[0].data) return Status::ok();  // direct: already there
    constexpr int kRows = 64;
    const ColorUpsampleArgs args =
        make_upsample_args(frame_, planes_, model, upsampling, out, kRows);
    pool_.run(ceil_div(out.height, kRows), [&](std::int64_t band, int) {
      ColorUpsampleArgs rows = args;
      rows.first_row = static_cast<std::int32_t>(band) * kRows;
      Exec exec;
      (void)stages_.color_upsample(rows, exec);  // CPU stages cannot fail
    });
    return Status::ok();
  }

  Status finish_planes(std::vector<ComponentPlane>& out) override {
    fill_gaps();
    copy_planes(frame_, planes_, out);
    return Status::ok();
  }

  Status finish_coefficients() override {
    flat_components_.fill_coefficients(pool_, *coefficients_);
    coefficients_ = nullptr;
    return Status::ok();
  }

 private:
  void fill_gaps() {
    flat_components_.fill_planes(pool_, planes_);
    fill_missing(frame_, scanned_, planes_);
  }

  /// Transforms the blocks of all scans, a row of blocks at a time.
  void transform_stored() {
    for (std::size_t c = 0; c < frame_.components.size(); ++c) {
      scanned_[c] = true;
      const FrameHeader::Component& component = frame_.components[c];
      const StoredBlocks& stored = stored_.blocks(c);
      const ComponentSpec spec;
      const int only = 0;
      DequantIdctArgs row{make_scan_layout(stored.blocks_wide * kBlockEdge,
                                           stored.blocks_high * kBlockEdge, &spec, 1, &only, 1, 0),
                          nullptr,
                          0,
                          component.blocks_wide,
                          nullptr,
                          {planes_[c]}};
      DequantTables tables{};
      std::copy(stored_.quant(c).begin(), stored_.quant(c).end(), tables.table[0]);
      row.tables = &tables;
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
  }

  void decode_intervals(std::int64_t per_task) {
    pool_.run(ceil_div(intervals_.reached(), per_task), [&](std::int64_t task, int worker) {
      const std::int64_t end = std::min((task + 1) * per_task, intervals_.reached());
      for (std::int64_t i = task * per_task; i < end; ++i) {
        IntervalState& interval = intervals_[i];
        if (interval.has_data()) mcus_.decode(interval, interval.end_mcu, worker);
      }
    });
  }

  const StageTable& stages_;
  ThreadPool pool_;

  // of the image
  FrameHeader frame_;
  bool scanned_[kMaxDecodedComponents] = {};
  PlaneView planes_[kMaxDecodedComponents];
  Buffer<std::uint8_t> plane_memory_[kMaxDecodedComponents];
  StoredFrame* coefficients_ = nullptr;

  // of the scan
  CleanBytes clean_;
  ScanIntervals intervals_;
  McuDecoder mcus_;
  FlatComponents flat_components_;

  // of a progressive image
  std::vector<CleanBytes> clean_scans_;
  ProgressiveFrame progressive_;
  StoredFrame stored_;
};

}  // namespace

std::unique_ptr<DecodePipeline> make_cpu_decode_pipeline(int threads, const StageTable& stages) {
  return std::make_unique<CpuDecodePipeline>(threads, stages);
}

}  // namespace zerorun
