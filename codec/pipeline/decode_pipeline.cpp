// The CPU decode pipeline: restart intervals go through the stages on several threads.
// SPDX-License-Identifier: MIT
#include "codec/pipeline/decode_pipeline.hpp"

#include <algorithm>
#include <cstring>

#include "codec/base/buffer.hpp"
#include "codec/base/thread_pool.hpp"
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
    plan_restarts({segments, segment_total}, scan.layout.intervals(), plan_);
    results_.resize(static_cast<std::size_t>(scan.layout.intervals()));
    decode_intervals();
    report_scan(data, {segments, segment_total + 1}, plan_, results_, outcome);
    return Status::ok();
  }

  Status finish_frame(ColorModel model, ChromaUpsampling upsampling,
                      const FrameView& out) override {
    fill_missing(frame_, scanned_, planes_);
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
    fill_missing(frame_, scanned_, planes_);
    copy_planes(frame_, planes_, out);
    return Status::ok();
  }

  Status finish_coefficients() override {
    coefficients_ = nullptr;
    return Status::ok();
  }

 private:
  const ScanLayout& layout() const { return scan_->layout; }

  void decode_intervals() {
    const std::int64_t intervals = layout().intervals();
    const std::int64_t per_task = std::max<std::int64_t>(1, kTaskMcus / layout().interval_mcus());
    pool_.run(ceil_div(intervals, per_task), [&](std::int64_t task, int worker) {
      const std::int64_t end = std::min((task + 1) * per_task, intervals);
      for (std::int64_t i = task * per_task; i < end; ++i)
        decode_interval(i, scratch_[static_cast<std::size_t>(worker)]);
    });
  }

  void decode_interval(std::int64_t interval, Scratch& scratch) {
    BitCursor cursor{};
    const std::int64_t segment = plan_.segment_of_interval[static_cast<std::size_t>(interval)];
    if (segment != kLostInterval) {
      cursor.bit = segments_.data()[segment].first_byte * 8;
      cursor.end_bit = segments_.data()[segment + 1].first_byte * 8;
    }
    const std::int64_t per_mcu = layout().blocks_per_mcu;
    const std::int64_t slice_mcus = std::max<std::int64_t>(1, kSliceBlocks / per_mcu);
    const std::int64_t first = interval * layout().interval_mcus();
    const std::int64_t end = std::min(first + layout().interval_mcus(), layout().mcus());
    IntervalResult& result = results_[static_cast<std::size_t>(interval)];
    result = {};
    std::int16_t carry[kMaxComponents] = {};
    for (std::int64_t mcu = first; mcu < end; mcu += slice_mcus) {
      decode_slice(mcu, std::min(slice_mcus, end - mcu), cursor, carry, scratch);
      if (result.fault != Errc::ok || cursor.fault == Errc::ok) continue;
      result.fault = cursor.fault;
      result.bit = cursor.bit;
      cursor.bit = cursor.end_bit;  // read no more of a damaged interval
    }
    if (result.fault == Errc::ok) result.bit = cursor.bit;
    result.end_bit = cursor.end_bit;
  }

  void decode_slice(std::int64_t first_mcu, std::int64_t mcus, BitCursor& cursor,
                    std::int16_t* carry, Scratch& scratch) {
    const std::int64_t blocks = mcus * layout().blocks_per_mcu;
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
    (void)stages_.zero_run_expand({blocks, pairs, pair_count, coefficients, diff}, exec);
    (void)stages_.dc_predict({layout(), first_mcu, mcus, diff, coefficients, carry}, exec);
    if (coefficients_ != nullptr) {
      store_coefficients(*scan_, first_mcu, mcus, coefficients, *coefficients_);
      return;
    }
    DequantIdctArgs transform{layout(), &dequant_, first_mcu, mcus, coefficients, {}};
    for (std::size_t i = 0; i < scan_->components.size(); ++i)
      transform.plane[i] = planes_[scan_->components[i]];
    (void)stages_.dequant_idct(transform, exec);
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
};

}  // namespace

void store_coefficients(const ScanHeader& scan, std::int64_t first_mcu, std::int64_t mcus,
                        const std::int16_t* blocks, std::vector<ComponentCoefficients>& out) {
  for (std::int64_t m = first_mcu; m < first_mcu + mcus; ++m)
    for (std::int32_t i = 0; i < scan.layout.blocks_per_mcu; ++i, blocks += kBlockSize) {
      const BlockPlace place = place_block(scan.layout, m, i);
      if (!place.inside) continue;
      auto& component =
          out[static_cast<std::size_t>(scan.components[static_cast<std::size_t>(place.component)])];
      const std::int64_t at = std::int64_t{place.y} * component.blocks_wide + place.x;
      std::copy_n(blocks, kBlockSize, component.values.begin() + at * kBlockSize);
    }
}

void fill_missing(const FrameHeader& frame, const bool* scanned, const PlaneView* planes) {
  for (std::size_t c = 0; c < frame.components.size(); ++c) {
    const PlaneView& plane = planes[c];
    if (scanned[c] || plane.data == nullptr) continue;
    for (int y = 0; y < plane.height; ++y)
      std::memset(plane.data + y * plane.stride_bytes, 128, static_cast<std::size_t>(plane.width));
  }
}

void copy_planes(const FrameHeader& frame, const PlaneView* planes,
                 std::vector<ComponentPlane>& out) {
  out.resize(frame.components.size());
  for (std::size_t c = 0; c < out.size(); ++c) {
    const PlaneView& plane = planes[c];
    out[c].width = plane.width;
    out[c].height = plane.height;
    const auto width = static_cast<std::size_t>(plane.width);
    out[c].samples.resize(width * static_cast<std::size_t>(plane.height));
    for (int y = 0; y < plane.height; ++y)
      std::memcpy(out[c].samples.data() + static_cast<std::size_t>(y) * width,
                  plane.data + y * plane.stride_bytes, width);
  }
}

std::unique_ptr<DecodePipeline> make_cpu_decode_pipeline(int threads, const StageTable& stages) {
  return std::make_unique<CpuDecodePipeline>(threads, stages);
}

}  // namespace zerorun
