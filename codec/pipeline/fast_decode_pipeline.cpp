// The CPU decode pipeline of the fast stages. The reference stages decode what is damaged.
// SPDX-License-Identifier: MIT
#include <algorithm>

#include "codec/fast/color_rows.hpp"
#include "codec/fast/scan_decoder.hpp"
#include "codec/pipeline/cpu_choice.hpp"
#include "codec/pipeline/cpu_decode_pipeline.hpp"
#include "codec/pipeline/stage_table.hpp"

namespace zerorun {
namespace {

/// The vector code decodes each restart interval up to a run of MCUs with a fault. This run goes
/// through the reference stages, which find the fault.
class FastDecodePipeline final : public CpuDecodePipeline {
 public:
  FastDecodePipeline(int threads, InstructionSet target, const ThreadLimits& limits,
                     const StageTable& reference)
      : CpuDecodePipeline(threads, limits.blocks),
        limits_(limits),
        kernels_(fast::decode_kernels(target)),
        decoder_(target, pool_.workers()),
        reference_(reference, pool_.workers()),
        colors_(fast::color_kernels(target)),
        rows_(static_cast<std::size_t>(pool_.workers())) {}

 private:
  CleanScan begin_scan(const ScanHeader& scan, std::span<const std::uint8_t> data,
                       std::uint64_t& consumed_bytes) override {
    for (std::size_t c = 0; c < frame_.components.size(); ++c) samples_[c] = sample_plane(c);
    const auto most = static_cast<std::size_t>(small_ ? 1 : pool_.workers());
    const auto jobs =
        static_cast<int>(std::clamp<std::size_t>(data.size() / limits_.piece_bytes, 1, most));
    decoder_.begin_scan(scan, data, samples_,
                        coefficients_ == nullptr ? nullptr : coefficients_->blocks(), jobs);
    run_jobs(jobs, [&](std::int64_t job, int) { decoder_.unstuff(static_cast<int>(job)); });
    decoder_.join_bytes();
    // The first piece lies where it belongs.
    run_jobs(jobs - 1,
             [&](std::int64_t job, int) { decoder_.move_bytes(static_cast<int>(job) + 1); });
    consumed_bytes = decoder_.consumed_bytes();
    return {decoder_.bytes(), decoder_.segments()};
  }

  void decode_intervals(const ScanHeader& scan, const CleanScan& clean,
                        std::int64_t per_task) override {
    decode_sound(per_task);
    decode_stopped(scan, clean);
  }

  void begin_progressive(std::size_t scans) override {
    while (unstuffers_.size() < scans)
      unstuffers_.push_back(std::make_unique<fast::Unstuffer>(kernels_));
  }
  CleanScan unstuff(std::size_t scan, std::span<const std::uint8_t> data,
                    std::uint64_t& consumed_bytes) override {
    fast::Unstuffer& unstuffer = *unstuffers_[scan];
    unstuffer.cut(data, 1);
    unstuffer.unstuff(0);
    unstuffer.join();
    consumed_bytes = unstuffer.consumed_bytes();
    return {unstuffer.bytes(), unstuffer.segments()};
  }

  void transform_stored(std::size_t c) override {
    const fast::SamplePlane plane = sample_plane(c);
    fast::DequantRows dequant;
    fast::fill_dequant_rows(stored_.quant(c).data(), dequant);
    dequant.checked = true;  // a coefficient of a progressive frame may have any value
    run_jobs(frame_.components[c].blocks_high, [&](std::int64_t row, int worker) {
      decoder_.transform_row(stored_.blocks(c), static_cast<std::int32_t>(row), dequant, plane,
                             worker);
    });
  }

  void convert(const ColorUpsampleArgs& rows, int worker) override {
    fast::color_upsample(colors_, rows, rows_[static_cast<std::size_t>(worker)]);
  }

  /// With its room: the samples of the caller's planes, or whole blocks and vectors.
  fast::SamplePlane sample_plane(std::size_t c) const {
    const PlaneView& view = planes_[c];
    if (is_direct_) return {view, view.width, view.height};
    return {view, static_cast<std::int32_t>(view.stride_bytes), round_up(view.height, kBlockEdge)};
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
  void decode_stopped(const ScanHeader& scan, const CleanScan& clean) {
    stopped_.clear();
    for (std::int64_t i = 0; i < intervals_.reached(); ++i)
      if (intervals_[i].has_data()) stopped_.push_back(i);
    if (stopped_.empty()) return;
    reference_.begin_scan(
        {&scan, clean.bytes, clean.segments.back().first_byte, planes_, coefficients_});
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

  const ThreadLimits limits_;
  const fast::DecodeKernels& kernels_;
  fast::ScanDecoder decoder_;
  McuDecoder reference_;
  const fast::ColorKernels& colors_;
  std::vector<std::vector<std::uint8_t>> rows_;  // one a worker
  fast::SamplePlane samples_[kMaxDecodedComponents];
  std::vector<std::int64_t>
      stopped_;  // intervals of the scan that the vector code has not finished
  std::vector<std::unique_ptr<fast::Unstuffer>> unstuffers_;  // one a scan of a progressive image
};

}  // namespace

std::unique_ptr<DecodePipeline> make_fast_decode_pipeline(int threads, InstructionSet target,
                                                          const ThreadLimits& limits,
                                                          const StageTable& reference) {
  return std::make_unique<FastDecodePipeline>(threads, target, limits, reference);
}

}  // namespace zerorun
