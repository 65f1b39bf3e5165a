// The CPU decode pipeline: restart intervals go through the stages on several threads.
// SPDX-License-Identifier: MIT
#include "codec/pipeline/decode_pipeline.hpp"

#include <algorithm>

#include "codec/base/buffer.hpp"
#include "codec/base/thread_pool.hpp"
#include "codec/pipeline/flat_mcus.hpp"
#include "codec/pipeline/mcu_decoder.hpp"
#include "codec/pipeline/scan_intervals.hpp"
#include "codec/pipeline/stage_table.hpp"

namespace zerorun {
namespace {

/// A worker takes intervals of about this many MCUs at a time.
constexpr std::int64_t kTaskMcus = 256;

class CpuDecodePipeline final : public DecodePipeline {
 public:
  CpuDecodePipeline(int threads, const StageTable& stages)
      : stages_(stages), pool_(threads), mcus_(stages, pool_.workers()) {}

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
    for (const int c : scan.components) scanned_[c] = true;
    const auto size = static_cast<std::int64_t>(data.size());
    EntropySegment* const segments = segments_.reserve(size / 2 + 2);
    std::uint64_t total = 0;
    Exec exec;
    (void)stages_.byte_unstuff(
        {data.data(), data.size(), clean_.reserve(size), segments, &total, &outcome.consumed_bytes},
        exec);
    intervals_.begin(scan.layout, {segments, total + 1});
    mcus_.begin_scan({&scan, clean_.data(), segments[total].first_byte, planes_, coefficients_});
    decode_intervals(std::max<std::int64_t>(1, kTaskMcus / scan.layout.interval_mcus()));
    intervals_.finish(scan, data, flat_components_, outcome);
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
  bool scanned_[kMaxComponents] = {};
  PlaneView planes_[kMaxComponents];
  Buffer<std::uint8_t> plane_memory_[kMaxComponents];
  std::vector<ComponentCoefficients>* coefficients_ = nullptr;

  // of the scan
  Buffer<std::uint8_t> clean_;
  Buffer<EntropySegment> segments_;
  ScanIntervals intervals_;
  McuDecoder mcus_;
  FlatComponents flat_components_;
};

}  // namespace

std::unique_ptr<DecodePipeline> make_cpu_decode_pipeline(int threads, const StageTable& stages) {
  return std::make_unique<CpuDecodePipeline>(threads, stages);
}

}  // namespace zerorun
