// The CPU decode pipeline of the fast stages. The reference stages decode damaged images.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <optional>

#include "codec/base/buffer.hpp"
#include "codec/base/thread_pool.hpp"
#include "codec/fast/color_rows.hpp"
#include "codec/fast/scan_decoder.hpp"
#include "codec/pipeline/cpu_choice.hpp"
#include "codec/pipeline/stage_table.hpp"
#include "codec/pipeline/thread_limits.hpp"

namespace zerorun {
namespace {

/// A worker takes intervals of about this many MCUs at a time.
constexpr std::int64_t kTaskMcus = 256;
/// Decodes sound scans. At the first irregularity of an image a reference pipeline decodes it anew,
/// scan by scan, and finishes it: report and concealment are the reference's.
class FastDecodePipeline final : public DecodePipeline {
 public:
  FastDecodePipeline(int threads, CpuTarget target, const ThreadLimits& limits)
      : threads_(threads),
        limits_(limits),
        pool_(threads),
        decoder_(target, pool_.workers()),
        colors_(fast::color_kernels(target)),
        rows_(static_cast<std::size_t>(pool_.workers())) {}

  Status begin_planes(const FrameHeader& frame, const FrameView* direct, bool luma_only) override {
    coefficients_ = nullptr;
    by_reference_ = false;
    scan_count_ = 0;
    frame_ = frame;
    std::fill_n(scanned_, kMaxComponents, false);
    direct_ = direct != nullptr ? std::optional(*direct) : std::nullopt;
    luma_only_ = luma_only;
    for (std::size_t c = 0; c < frame.components.size(); ++c) {
      fast::SamplePlane& plane = planes_[c];
      plane = {};
      plane.view.width = frame.components[c].width;
      plane.view.height = frame.components[c].height;
      if (luma_only && c > 0) continue;
      plane.columns = plane.view.width;
      plane.rows = plane.view.height;
      if (direct != nullptr) {
        plane.view.data = direct->data[c];
        plane.view.stride_bytes = direct->stride_bytes[c];
        continue;
      }
      // Room for whole blocks, and rows for whole vectors.
      plane.columns = round_up(plane.view.width, 64);
      plane.rows = round_up(plane.view.height, 8);
      plane.view.stride_bytes = plane.columns;
      plane.view.data = plane_memory_[c].reserve(std::int64_t{plane.columns} * plane.rows);
    }
    return Status::ok();
  }

  Status begin_coefficients(std::vector<ComponentCoefficients>& out) override {
    coefficients_ = &out;
    by_reference_ = false;
    scan_count_ = 0;
    return Status::ok();
  }

  Status decode_scan(const ScanHeader& scan, std::span<const std::uint8_t> data,
                     ScanOutcome& outcome) override {
    if (by_reference_) return reference_->decode_scan(scan, data, outcome);
    if (scan_count_ == scans_.size()) scans_.emplace_back();
    scans_[scan_count_].header = scan;
    scans_[scan_count_++].data = data;
    for (const int c : scan.components) scanned_[c] = true;
    if (decode_sound_scan(scan, data, outcome)) return Status::ok();
    return decode_by_reference(outcome);
  }

  Status finish_frame(ColorModel model, ChromaUpsampling upsampling,
                      const FrameView& out) override {
    if (by_reference_) return reference_->finish_frame(model, upsampling, out);
    const PlaneView* const planes = finished_planes();
    if (direct_) return Status::ok();
    constexpr int kRows = 64;
    const ColorUpsampleArgs args =
        make_upsample_args(frame_, planes, model, upsampling, out, kRows);
    run_jobs(ceil_div(out.height, kRows), [&](std::int64_t band, int worker) {
      ColorUpsampleArgs rows = args;
      rows.first_row = static_cast<std::int32_t>(band) * kRows;
      fast::color_upsample(colors_, rows, rows_[static_cast<std::size_t>(worker)]);
    });
    return Status::ok();
  }

  Status finish_planes(std::vector<ComponentPlane>& out) override {
    if (by_reference_) return reference_->finish_planes(out);
    copy_planes(frame_, finished_planes(), out);
    return Status::ok();
  }

  Status finish_coefficients() override {
    coefficients_ = nullptr;
    return by_reference_ ? reference_->finish_coefficients() : Status::ok();
  }

 private:
  struct StoredScan {
    ScanHeader header;
    std::span<const std::uint8_t> data;
  };

  /// The planes, of which those that no scan has filled are 128.
  const PlaneView* finished_planes() {
    for (int c = 0; c < kMaxComponents; ++c) views_[c] = planes_[c].view;
    fill_missing(frame_, scanned_, views_);
    return views_;
  }

  template <typename Job>
  void run_jobs(std::int64_t jobs, const Job& job) {
    if (small_) {
      for (std::int64_t i = 0; i < jobs; ++i) job(i, 0);
    } else {
      pool_.run(jobs, std::cref(job));  // no copy: nothing is allocated
    }
  }

  /// False: something is wrong with the scan.
  bool decode_sound_scan(const ScanHeader& scan, std::span<const std::uint8_t> data,
                         ScanOutcome& outcome) {
    const std::int64_t intervals = scan.layout.intervals();
    small_ = scan.layout.blocks() < limits_.blocks;
    if (!begin_scan(scan, data)) return false;
    outcome.consumed_bytes = decoder_.consumed_bytes();
    outcome.intervals = intervals;
    const std::int64_t per_task =
        std::max<std::int64_t>(1, kTaskMcus / scan.layout.interval_mcus());
    const std::int64_t tasks = ceil_div(intervals, per_task);
    if (!keep_busy(tasks)) {
      for (std::int64_t i = 0; i < intervals; ++i)
        if (!decode_in_parts(i)) return false;
      return true;
    }
    std::atomic<bool> sound{true};
    run_jobs(tasks, [&](std::int64_t task, int worker) {
      const std::int64_t end = std::min((task + 1) * per_task, intervals);
      for (std::int64_t i = task * per_task; i < end && sound; ++i)
        if (!decoder_.decode_interval(i, worker)) sound = false;
    });
    return sound;
  }

  bool begin_scan(const ScanHeader& scan, std::span<const std::uint8_t> data) {
    const auto most = static_cast<std::size_t>(small_ ? 1 : pool_.workers());
    const auto jobs =
        static_cast<int>(std::clamp<std::size_t>(data.size() / limits_.piece_bytes, 1, most));
    decoder_.begin_scan(scan, data, planes_, coefficients_, jobs);
    run_jobs(jobs, [&](std::int64_t job, int) { decoder_.unstuff(static_cast<int>(job)); });
    if (!decoder_.join_bytes()) return false;
    // The first piece lies where it belongs.
    run_jobs(jobs - 1,
             [&](std::int64_t job, int) { decoder_.move_bytes(static_cast<int>(job) + 1); });
    return true;
  }

  /// Whether `jobs` equal jobs occupy the workers for three quarters of the time, as parts of an
  /// interval do.
  bool keep_busy(std::int64_t jobs) const {
    const std::int64_t workers = small_ ? 1 : pool_.workers();
    return jobs * 4 >= ceil_div(jobs, workers) * workers * 3;
  }

  bool decode_in_parts(std::int64_t interval) {
    const std::uint64_t bits = decoder_.interval_bits(interval);
    const auto threads = static_cast<int>(std::min<std::uint64_t>(
        static_cast<std::uint64_t>(pool_.workers()), bits / limits_.part_bits));
    if (threads < 2) return decoder_.decode_interval(interval, 0);
    run_jobs(decoder_.cut_interval(interval, threads), [&](std::int64_t job, int worker) {
      decoder_.find_parts(static_cast<int>(job), worker);
    });
    std::atomic<bool> sound{true};
    const int jobs = decoder_.join_parts();
    run_jobs(jobs, [&](std::int64_t job, int worker) {
      if (sound && !decoder_.decode_part(static_cast<int>(job), worker)) sound = false;
    });
    return jobs > 0 && sound;
  }

  /// All scans so far; the outcomes of those before the last were sound.
  Status decode_by_reference(ScanOutcome& last) {
    if (!reference_) reference_ = make_cpu_decode_pipeline(threads_, cpu_stages());
    by_reference_ = true;
    Status status =
        coefficients_ != nullptr
            ? reference_->begin_coefficients(*coefficients_)
            : reference_->begin_planes(frame_, direct_ ? &*direct_ : nullptr, luma_only_);
    for (std::size_t s = 0; s < scan_count_ && status; ++s) {
      last = {};
      status = reference_->decode_scan(scans_[s].header, scans_[s].data, last);
    }
    return status;
  }

  int threads_;
  ThreadLimits limits_;
  ThreadPool pool_;
  fast::ScanDecoder decoder_;
  const fast::ColorKernels& colors_;
  std::vector<std::vector<std::uint8_t>> rows_;  // one a worker
  std::unique_ptr<DecodePipeline> reference_;
  bool by_reference_ = false;

  // of the image
  FrameHeader frame_;
  std::optional<FrameView> direct_;
  bool luma_only_ = false;
  bool scanned_[kMaxComponents] = {};
  bool small_ = false;
  fast::SamplePlane planes_[kMaxComponents];
  PlaneView views_[kMaxComponents];
  Buffer<std::uint8_t> plane_memory_[kMaxComponents];
  std::vector<ComponentCoefficients>* coefficients_ = nullptr;
  std::vector<StoredScan> scans_;  // the first scan_count_ are this image's
  std::size_t scan_count_ = 0;
};

}  // namespace

std::unique_ptr<DecodePipeline> make_fast_decode_pipeline(int threads, CpuTarget target) {
  return make_fast_decode_pipeline(threads, target, {});
}

std::unique_ptr<DecodePipeline> make_fast_decode_pipeline(int threads, CpuTarget target,
                                                          const ThreadLimits& limits) {
  return std::make_unique<FastDecodePipeline>(threads, target, limits);
}

}  // namespace zerorun
