// The CPU decode pipeline of the fast stages. The reference stages decode what is damaged.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <functional>

#include "codec/base/buffer.hpp"
#include "codec/base/thread_pool.hpp"
#include "codec/fast/color_rows.hpp"
#include "codec/fast/scan_decoder.hpp"
#include "codec/fast/stored_transform.hpp"
#include "codec/pipeline/cpu_choice.hpp"
#include "codec/pipeline/flat_mcus.hpp"
#include "codec/pipeline/mcu_decoder.hpp"
#include "codec/pipeline/progressive_frame.hpp"
#include "codec/pipeline/scan_intervals.hpp"
#include "codec/pipeline/stage_table.hpp"
#include "codec/pipeline/thread_limits.hpp"

namespace zerorun {
namespace {

/// A worker takes intervals of about this many MCUs at a time.
constexpr std::int64_t kTaskMcus = 256;

/// The vector code decodes each restart interval up to a run of MCUs with a fault. This run goes
/// through the reference stages, which find the fault. What follows from the faults is the code of
/// the reference pipeline.
class FastDecodePipeline final : public DecodePipeline {
 public:
  FastDecodePipeline(int threads, CpuTarget target, const ThreadLimits& limits,
                     const StageTable& reference)
      : limits_(limits),
        pool_(threads),
        kernels_(fast::decode_kernels(target)),
        decoder_(target, pool_.workers()),
        stored_transform_(target),
        reference_(reference, pool_.workers()),
        colors_(fast::color_kernels(target)),
        rows_(static_cast<std::size_t>(pool_.workers())) {}

  Status begin_planes(const FrameHeader& frame, const FrameView* direct, bool luma_only) override {
    coefficients_ = nullptr;
    frame_ = frame;
    flat_components_.begin();
    std::fill_n(scanned_, kMaxDecodedComponents, false);
    is_direct_ = direct != nullptr;
    for (std::size_t c = 0; c < frame.components.size(); ++c) {
      planes_[c] = luma_only && c > 0 ? fast::SamplePlane() : make_plane(c, direct);
      const std::int64_t stride = planes_[c].view.stride_bytes;
      std::uint8_t* const data = planes_[c].view.data;
      planes_[c].view = frame.components[c].plane();
      planes_[c].view.stride_bytes = stride;
      planes_[c].view.data = data;
      views_[c] = planes_[c].view;
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
    small_ = scan.layout.blocks() < limits_.blocks;
    begin_scan(scan, data);
    outcome.consumed_bytes = decoder_.consumed_bytes();
    intervals_.begin(scan.layout, decoder_.segments());
    if (coefficients_ == nullptr) intervals_.limit(scan, views_);
    decode_sound(std::max<std::int64_t>(1, kTaskMcus / scan.layout.interval_mcus()));
    decode_stopped(scan);
    intervals_.finish(scan, data, flat_components_, outcome);
    return Status::ok();
  }

  Status decode_progressive(const FrameHeader& frame, std::span<const FrameScan> scans,
                            std::span<ScanOutcome> outcomes) override {
    std::int64_t blocks = 0;
    for (const auto& c : frame.components) blocks += std::int64_t{c.blocks_wide} * c.blocks_high;
    small_ = blocks < limits_.blocks;
    while (unstuffers_.size() < scans.size())
      unstuffers_.push_back(std::make_unique<fast::Unstuffer>(kernels_));
    const auto unstuff = [&](std::size_t scan, std::span<const std::uint8_t> data) {
      fast::Unstuffer& unstuffer = *unstuffers_[scan];
      unstuffer.cut(data, 1);
      unstuffer.unstuff(0);
      unstuffer.join();
      outcomes[scan].consumed_bytes = unstuffer.consumed_bytes();
      return ProgressiveFrame::CleanScan{unstuffer.bytes(), unstuffer.segments()};
    };
    const bool is_output = coefficients_ != nullptr;
    if (!is_output) stored_.clear(frame);
    progressive_.decode(frame, scans, is_output ? nullptr : views_, small_ ? nullptr : &pool_,
                        unstuff, outcomes, is_output ? *coefficients_ : stored_);
    if (!is_output) transform_stored();
    return Status::ok();
  }

  Status finish_frame(ColorModel model, ChromaUpsampling upsampling,
                      const FrameView& out) override {
    finish_samples();
    if (is_direct_) return Status::ok();
    constexpr int kRows = 64;
    const ColorUpsampleArgs args =
        make_upsample_args(frame_, views_, model, upsampling, out, kRows);
    run_jobs(ceil_div(out.height, kRows), [&](std::int64_t band, int worker) {
      ColorUpsampleArgs rows = args;
      rows.first_row = static_cast<std::int32_t>(band) * kRows;
      fast::color_upsample(colors_, rows, rows_[static_cast<std::size_t>(worker)]);
    });
    return Status::ok();
  }

  Status finish_planes(std::vector<ComponentPlane>& out) override {
    finish_samples();
    copy_planes(frame_, views_, out);
    return Status::ok();
  }

  Status finish_coefficients() override {
    flat_components_.fill_coefficients(pool_, *coefficients_);
    coefficients_ = nullptr;
    return Status::ok();
  }

 private:
  fast::SamplePlane make_plane(std::size_t c, const FrameView* direct) {
    const FrameHeader::Component& component = frame_.components[c];
    fast::SamplePlane plane;
    if (direct != nullptr) {
      plane.columns = component.width;
      plane.rows = component.height;
      plane.view.data = direct->data[c];
      plane.view.stride_bytes = direct->stride_bytes[c];
      return plane;
    }
    // Room for whole blocks, and rows for whole vectors.
    plane.columns = round_up(component.width, 64);
    plane.rows = round_up(component.height, 8);
    plane.view.stride_bytes = plane.columns;
    plane.view.data = plane_memory_[c].reserve(std::int64_t{plane.columns} * plane.rows);
    return plane;
  }

  void transform_stored() {
    stored_transform_.begin(pool_.workers());
    for (std::size_t c = 0; c < frame_.components.size(); ++c) {
      scanned_[c] = true;
      if (planes_[c].view.data == nullptr) continue;
      fast::DequantRows dequant;
      fast::fill_dequant_rows(stored_.quant(c).data(), dequant);
      dequant.checked = true;  // a coefficient of a progressive frame may have any value
      run_jobs(frame_.components[c].blocks_high, [&](std::int64_t row, int worker) {
        stored_transform_.transform_row(stored_.blocks(c), static_cast<std::int32_t>(row), dequant,
                                        planes_[c], worker);
      });
    }
  }

  /// Fills what the scans have left out.
  void finish_samples() {
    flat_components_.fill_planes(pool_, views_);
    fill_missing(frame_, scanned_, views_);
  }

  template <typename Job>
  void run_jobs(std::int64_t jobs, const Job& job) {
    if (small_) {
      for (std::int64_t i = 0; i < jobs; ++i) job(i, 0);
    } else {
      pool_.run(jobs, std::cref(job));  // no copy: nothing is allocated
    }
  }

  void begin_scan(const ScanHeader& scan, std::span<const std::uint8_t> data) {
    const auto most = static_cast<std::size_t>(small_ ? 1 : pool_.workers());
    const auto jobs =
        static_cast<int>(std::clamp<std::size_t>(data.size() / limits_.piece_bytes, 1, most));
    decoder_.begin_scan(scan, data, planes_,
                        coefficients_ == nullptr ? nullptr : coefficients_->blocks(), jobs);
    run_jobs(jobs, [&](std::int64_t job, int) { decoder_.unstuff(static_cast<int>(job)); });
    decoder_.join_bytes();
    // The first piece lies where it belongs.
    run_jobs(jobs - 1,
             [&](std::int64_t job, int) { decoder_.move_bytes(static_cast<int>(job) + 1); });
  }

  /// Each interval by the vector code, to its end or to a fault.
  void decode_sound(std::int64_t per_task) {
    const std::int64_t intervals = intervals_.reached(), tasks = ceil_div(intervals, per_task);
    if (!keep_busy(tasks)) {
      for (std::int64_t i = 0; i < intervals; ++i)
        if (intervals_[i].has_data()) decode_in_parts(intervals_[i]);
      return;
    }
    run_jobs(tasks, [&](std::int64_t task, int worker) {
      const std::int64_t end = std::min((task + 1) * per_task, intervals);
      for (std::int64_t i = task * per_task; i < end; ++i)
        if (intervals_[i].has_data()) decoder_.decode_interval(intervals_[i], worker);
    });
  }

  /// The reference finds the faults that have stopped the vector code.
  void decode_stopped(const ScanHeader& scan) {
    stopped_.clear();
    for (std::int64_t i = 0; i < intervals_.reached(); ++i)
      if (intervals_[i].has_data()) stopped_.push_back(i);
    if (stopped_.empty()) return;
    reference_.begin_scan(
        {&scan, decoder_.bytes(), decoder_.segments().back().first_byte, views_, coefficients_});
    run_jobs(static_cast<std::int64_t>(stopped_.size()), [&](std::int64_t job, int worker) {
      IntervalState& interval = intervals_[stopped_[static_cast<std::size_t>(job)]];
      while (interval.has_data()) {
        reference_.decode(
            interval, std::min(interval.at.mcu + fast::kDecodeRunMcus, interval.end_mcu), worker);
        if (interval.has_data()) decoder_.decode_interval(interval, worker);
      }
    });
  }

  /// Whether `jobs` equal jobs occupy the workers for three quarters of the time, as parts of an
  /// interval do.
  bool keep_busy(std::int64_t jobs) const {
    const std::int64_t workers = small_ ? 1 : pool_.workers();
    return jobs * 4 >= ceil_div(jobs, workers) * workers * 3;
  }

  void decode_in_parts(IntervalState& interval) {
    const auto threads =
        static_cast<int>(std::min(static_cast<std::uint64_t>(pool_.workers()),
                                  (interval.end_bit - interval.at.bit) / limits_.part_bits));
    if (threads < 2) return decoder_.decode_interval(interval, 0);
    run_jobs(decoder_.cut_interval(interval, threads), [&](std::int64_t job, int worker) {
      decoder_.find_parts(static_cast<int>(job), worker);
    });
    run_jobs(decoder_.join_parts(), [&](std::int64_t job, int worker) {
      decoder_.decode_part(static_cast<int>(job), worker);
    });
    interval.at = decoder_.end_of_parts();
  }

  ThreadLimits limits_;
  ThreadPool pool_;
  const fast::DecodeKernels& kernels_;
  fast::ScanDecoder decoder_;
  fast::StoredTransform stored_transform_;
  McuDecoder reference_;
  const fast::ColorKernels& colors_;
  std::vector<std::vector<std::uint8_t>> rows_;  // one a worker

  // of the image
  FrameHeader frame_;
  bool is_direct_ = false;
  bool scanned_[kMaxDecodedComponents] = {};
  bool small_ = false;
  fast::SamplePlane planes_[kMaxDecodedComponents];
  PlaneView views_[kMaxDecodedComponents];
  Buffer<std::uint8_t> plane_memory_[kMaxDecodedComponents];
  StoredFrame* coefficients_ = nullptr;
  FlatComponents flat_components_;

  // of the scan
  ScanIntervals intervals_;
  std::vector<std::int64_t> stopped_;  // intervals that the vector code has not finished

  // of a progressive image
  std::vector<std::unique_ptr<fast::Unstuffer>> unstuffers_;  // one a scan
  ProgressiveFrame progressive_;
  StoredFrame stored_;
};

}  // namespace

std::unique_ptr<DecodePipeline> make_fast_decode_pipeline(int threads, CpuTarget target) {
  return make_fast_decode_pipeline(threads, target, {}, cpu_stages());
}

std::unique_ptr<DecodePipeline> make_fast_decode_pipeline(int threads, CpuTarget target,
                                                          const ThreadLimits& limits,
                                                          const StageTable& reference) {
  return std::make_unique<FastDecodePipeline>(threads, target, limits, reference);
}

}  // namespace zerorun
