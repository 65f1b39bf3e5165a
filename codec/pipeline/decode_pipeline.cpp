// The CPU decode pipeline: restart intervals go through the stages on several threads.
// SPDX-License-Identifier: MIT
#include "codec/pipeline/decode_pipeline.hpp"

#include <algorithm>

#include "codec/base/buffer.hpp"
#include "codec/base/thread_pool.hpp"
#include "codec/pipeline/flat_mcus.hpp"
#include "codec/pipeline/scan_report.hpp"
#include "codec/pipeline/stage_table.hpp"

namespace zerorun {
namespace {

/// Blocks that go through the stages together, so that pairs and coefficients stay in the cache.
constexpr std::int64_t kSliceBlocks = 512;
/// A worker takes intervals of about this many MCUs at a time.
constexpr std::int64_t kTaskMcus = 256;

struct Scratch {
  Buffer<RunLevel> pairs;
  Buffer<std::uint8_t> pair_count;
  Buffer<std::int16_t> coefficients, diff;
};

class CpuDecodePipeline final : public DecodePipeline {
 public:
  CpuDecodePipeline(int threads, const StageTable& stages)
      : stages_(stages), pool_(threads), scratch_(static_cast<std::size_t>(pool_.workers())) {}

  Status begin_planes(const FrameHeader& frame, const FrameView* direct, bool luma_only) override {
    coefficients_ = nullptr;
    frame_ = frame;
    flat_components_.begin();
    std::fill_n(scanned_, kMaxComponents, false);
    for (std::size_t c = 0; c < frame.components.size(); ++c) {
      PlaneView& plane = planes_[c];
      plane.width = frame.components[c].width;
      plane.height = frame.components[c].height;
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

  Status begin_coefficients(std::vector<ComponentCoefficients>& out) override {
    coefficients_ = &out;
    flat_components_.begin();
    return Status::ok();
  }

  Status decode_scan(const ScanHeader& scan, std::span<const std::uint8_t> data,
                     ScanOutcome& outcome) override {
    scan_ = &scan;
    for (const int c : scan.components) scanned_[c] = true;
    for (std::size_t d = 0; d < 4; ++d) {
      if (scan.dc[d]) fill_decode_table(*scan.dc[d], huffman_.dc[d]);
      if (scan.ac[d]) fill_decode_table(*scan.ac[d], huffman_.ac[d]);
    }
    for (std::size_t i = 0; i < scan.components.size(); ++i)
      std::copy(scan.quant[i].begin(), scan.quant[i].end(), dequant_.table[i]);

    std::uint64_t segment_total = 0;
    const auto size = static_cast<std::int64_t>(data.size());
    EntropySegment* segments = segments_.reserve(size / 2 + 2);
    Exec exec;
    (void)stages_.byte_unstuff({data.data(), data.size(), clean_.reserve(size), segments,
                                &segment_total, &outcome.consumed_bytes},
                               exec);
    clean_bytes_ = segments[segment_total].first_byte;
    const std::int64_t intervals = scan.layout.intervals();
    const std::int64_t reached = reached_intervals(segment_total, intervals);
    plan_restarts({segments, segment_total}, reached, plan_);
    results_.resize(static_cast<std::size_t>(reached));
    flat_.resize(static_cast<std::size_t>(reached));
    decode_intervals(reached);
    report_scan(data, {segments, segment_total + 1}, plan_, results_, outcome);
    outcome.intervals = intervals;
    outcome.concealed_intervals += intervals - reached;
    keep_flat_mcus(reached);
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
  const ScanLayout& layout() const { return scan_->layout; }

  /// No segment takes more than three intervals (plan_restarts()), so that all from the result on
  /// are lost. A few bytes then cost the same whatever the size of the image.
  static std::int64_t reached_intervals(std::uint64_t segments, std::int64_t intervals) {
    return std::min(intervals, 3 * static_cast<std::int64_t>(segments) + 2);
  }

  void fill_gaps() {
    flat_components_.fill_planes(pool_, planes_);
    fill_missing(frame_, scanned_, planes_);
  }

  void keep_flat_mcus(std::int64_t reached) {
    const std::int64_t rest = std::min(reached * layout().interval_mcus(), layout().mcus());
    flat_.push_back({rest, layout().mcus(), {}});
    std::erase_if(flat_, [](const FlatMcus& flat) { return flat.first == flat.end; });
    flat_components_.set(*scan_, flat_);
  }

  void decode_intervals(std::int64_t intervals) {
    const std::int64_t per_task = std::max<std::int64_t>(1, kTaskMcus / layout().interval_mcus());
    pool_.run(ceil_div(intervals, per_task), [&](std::int64_t task, int worker) {
      const std::int64_t end = std::min((task + 1) * per_task, intervals);
      for (std::int64_t i = task * per_task; i < end; ++i)
        decode_interval(i, scratch_[static_cast<std::size_t>(worker)]);
    });
  }

  void decode_interval(std::int64_t interval, Scratch& scratch) {
    const std::int64_t segment = plan_.segment_of_interval[static_cast<std::size_t>(interval)];
    const std::int64_t first = interval * layout().interval_mcus();
    FlatMcus& flat = flat_[static_cast<std::size_t>(interval)];
    flat = {first, std::min(first + layout().interval_mcus(), layout().mcus()), {}};
    IntervalResult& result = results_[static_cast<std::size_t>(interval)];
    result = {};
    if (segment == kLostInterval) return;
    BitCursor cursor{};
    cursor.bit = segments_.data()[segment].first_byte * 8;
    cursor.end_bit = segments_.data()[segment + 1].first_byte * 8;
    const std::int64_t slice_mcus =
        std::max<std::int64_t>(1, kSliceBlocks / layout().blocks_per_mcu);
    // Behind a fault no block has data: all are as the DC prediction leaves them.
    while (flat.first < flat.end && cursor.fault == Errc::ok)
      flat.first += decode_slice(flat.first, std::min(slice_mcus, flat.end - flat.first), cursor,
                                 flat.dc, scratch);
    result = {cursor.fault, cursor.bit, cursor.end_bit};
  }

  /// Returns how many MCUs it has decoded: all, or those up to the one with the fault.
  std::int64_t decode_slice(std::int64_t first_mcu, std::int64_t mcus, BitCursor& cursor,
                            std::int16_t* carry, Scratch& scratch) {
    std::int64_t blocks = mcus * layout().blocks_per_mcu;
    RunLevel* pairs = scratch.pairs.reserve(blocks * kBlockSize);
    std::uint8_t* pair_count = scratch.pair_count.reserve(blocks);
    std::int16_t* coefficients = scratch.coefficients.reserve(blocks * kBlockSize);
    std::int16_t* diff = scratch.diff.reserve(blocks);
    cursor.first_block = 0;
    cursor.blocks = blocks;
    Exec exec;
    (void)stages_.huffman_decode({layout(), clean_.data(), clean_bytes_, &huffman_, &cursor, 1,
                                  nullptr, 0, nullptr, pairs, pair_count},
                                 exec);
    if (cursor.fault != Errc::ok) mcus = cursor.good_blocks / layout().blocks_per_mcu + 1;
    blocks = mcus * layout().blocks_per_mcu;
    (void)stages_.zero_run_expand({blocks, pairs, pair_count, coefficients, diff}, exec);
    (void)stages_.dc_predict({layout(), first_mcu, mcus, diff, coefficients, carry}, exec);
    if (coefficients_ != nullptr) {
      store_coefficients(*scan_, first_mcu, mcus, coefficients, *coefficients_);
      return mcus;
    }
    DequantIdctArgs transform{layout(), &dequant_, first_mcu, mcus, coefficients, {}};
    for (std::size_t i = 0; i < scan_->components.size(); ++i)
      transform.plane[i] = planes_[scan_->components[i]];
    (void)stages_.dequant_idct(transform, exec);
    return mcus;
  }

  const StageTable& stages_;
  ThreadPool pool_;
  std::vector<Scratch> scratch_;  // one a worker

  // of the image
  FrameHeader frame_;
  bool scanned_[kMaxComponents] = {};
  PlaneView planes_[kMaxComponents];
  Buffer<std::uint8_t> plane_memory_[kMaxComponents];
  std::vector<ComponentCoefficients>* coefficients_ = nullptr;

  // of the scan
  const ScanHeader* scan_ = nullptr;
  HuffmanDecodeTables huffman_;
  DequantTables dequant_;
  Buffer<std::uint8_t> clean_;
  std::uint64_t clean_bytes_ = 0;
  Buffer<EntropySegment> segments_;
  RestartPlan plan_;
  std::vector<IntervalResult> results_;
  std::vector<FlatMcus> flat_;  ///< one an interval that was reached; empty: it has data to its end
  FlatComponents flat_components_;
};

}  // namespace

std::unique_ptr<DecodePipeline> make_cpu_decode_pipeline(int threads, const StageTable& stages) {
  return std::make_unique<CpuDecodePipeline>(threads, stages);
}

}  // namespace zerorun
