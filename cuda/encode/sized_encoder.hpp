// Codes frames in device memory to a size, without a round trip to the host: the device counts,
// codes, and decides by SizePlan what comes next. Kernels that are not needed skip their work. Host
// frames (EncodePipeline) and device frames (DeviceEncoder) both go through it.
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "codec/pipeline/encode_pipeline.hpp"
#include "codec/pipeline/size_control.hpp"
#include "cuda/base/launch_graphs.hpp"
#include "cuda/encode/copies.hpp"
#include "cuda/encode/frame_encoder.hpp"
#include "cuda/encode/frame_kernels.hpp"
#include "cuda/encode/packed_fdct.hpp"
#include "cuda/stages/stages_cuda.hpp"

namespace zerorun {

/// `whole` and `counted` as for make_size_task().
inline void make_size_tables(const EncodeParams& params, const EncodeSetup& whole,
                             const ScanLayout& counted, SizeTables& out) {
  out = {};
  out.task = make_size_task(params, whole, counted);
  out.curve = kPhotoCurve;
  const bool is_420 = whole.h_max == 2 && whole.v_max == 2;
  EncodeSetup setup = whole;
  for (int quality = 1; quality <= 100; ++quality) {
    change_setting(params, {quality * kQualityUnit, out.task.most.thrift}, setup);
    for (std::size_t t = 0; t < 2; ++t)
      for (std::size_t i = 0; i < kBlockSize; ++i)
        out.quant[quality][t][i] = static_cast<std::uint8_t>(setup.quant[t][i]);
  }
  for (std::uint32_t q = 1; q < 256; ++q) out.reciprocal[q] = quant_reciprocal(q);
  out.weights = thrift_weights(params.tune, params.effort, is_420);
  out.rules = setup.tune;
  out.bands = params.huffman == HuffmanTables::trained ? kMostBands : 1;
  for (std::size_t band = 0; band < out.bands; ++band) {
    const int quality = out.bands == 1 ? 100 : kTrainedBands[band];
    out.band_end[band] = quality * kQualityUnit;
    change_setting(params, {out.band_end[band], 0}, setup);
    for (std::size_t t = 0; t < kEncodeTables; ++t) {
      out.specs[band][t] = (*setup.fixed_specs)[t];
      fill_encode_table(out.specs[band][t], static_cast<int>(t), out.codes[band]);
    }
  }
}

/// Keeps its memory between frames: some 100 KB and a 32nd of a large frame besides that of a
/// FrameEncoder. The caller orders work on different streams.
class SizedEncoder {
 public:
  /// Frames to come are those of `setup`, which was made of `params`; the size is in bytes. Params
  /// differ from those of the call before in size and quality alone. Such another size costs some
  /// microseconds, another shape memory and tables.
  Status set(const EncodeParams& params, const EncodeSetup& setup) {
    if (!setup_ || !same_size(*setup_, setup)) return set_shape(params, setup);
    if (params.size != size_ || params.quality != quality_) set_size(params);
    return Status::ok();
  }

  /// Enqueues a frame. *job.output.size becomes 0 if no stream is so small; `out` then holds no
  /// stream. `outcome` may be null; else it is in device or pinned memory.
  Status enqueue(const FrameJob& job, SizedCoding* outcome, cudaStream_t stream) {
    const bool was_ready = std::exchange(is_ready_, false);
    ZR_TRY(encoder_.bring_up_to_date(*setup_, 1, stream));
    if (!was_ready) ZR_TRY(prepare(stream));
    if (!std::exchange(has_task_, true))
      ZR_CUDA_TRY(cudaMemcpyAsync(&tables_.data()->task, &task(), sizeof(SizeTask),
                                  cudaMemcpyHostToDevice, stream));
    const FrameEncoder::Turn turn = encoder_.turn_;
    LaunchGraphs::Key key{static_cast<std::uint64_t>(phase_),
                          static_cast<std::uint64_t>(turn.parity),
                          turn.used_frames[0],
                          turn.used_frames[1],
                          reinterpret_cast<std::uintptr_t>(encoder_.headers_.data()),
                          reinterpret_cast<std::uintptr_t>(outcome)};
    append_job(key, job);
    const int codings = SizePlan::most_codings(task());
    ZR_TRY(graphs_.run(key, stream, [&](cudaStream_t s) {
      encoder_.turn_ = turn;
      return launch(job, outcome, codings, s);
    }));
    encoder_.turn_ = turn;
    for (int n = 0; n < codings; ++n) encoder_.take_turns(1);
    encoder_.complete_ = true;
    phase_ = (phase_ + codings + 1) % 2;
    is_ready_ = true;
    return Status::ok();
  }

 private:
  Status set_shape(const EncodeParams& params, const EncodeSetup& setup) {
    setup_.reset();
    is_ready_ = false;
    graphs_.forget_all();
    counted_ = setup.layout;
    grid_ = SampleGrid::of(setup.width, setup.height);
    if (grid_) {
      constexpr int kTile = SampleGrid::kTile;
      ZR_LET(made,
             make_encode_setup(params, setup.format, grid_->wide * kTile, grid_->high * kTile));
      counted_ = made.layout;
    }
    tables_on_host_.resize(1);
    make_size_tables(params, setup, counted_, tables_on_host_[0]);
    setup_ = setup;
    set_size(params);
    encoder_.set_header(params, *setup_);
    return Status::ok();
  }

  void set_size(const EncodeParams& params) {
    const int before = SizePlan::most_codings(task());
    const bool was_plain_first = is_plain_first_;
    tables_on_host_[0].task = make_size_task(params, *setup_, counted_);
    is_plain_first_ = task().tries_most && params.tune == Tune::exact;
    if (SizePlan::most_codings(task()) != before || is_plain_first_ != was_plain_first)
      graphs_.forget_all();
    change_setting(params, task().most, *setup_);
    has_task_ = false;
    size_ = params.size;
    quality_ = params.quality;
  }

  Status prepare(cudaStream_t stream) {
    graphs_.forget_all();
    ZR_TRY(tables_.reserve(1));
    ZR_TRY(states_.reserve(2));
    ZR_TRY(counts_.reserve(3));
    ZR_TRY(coded_.reserve(1));
    ZR_TRY(skip_.reserve(1));
    if (grid_)
      for (int c = 0; c < counted_.components; ++c) {
        const ScanLayout::Component& component = counted_.component[c];
        const std::int64_t bytes = std::int64_t{component.width} * component.height;
        ZR_TRY(planes_[c].reserve(bytes));
        if (setup_->fits_chroma) ZR_TRY(fitted_[c].reserve(bytes));
      }
    // From pageable memory the call returns when the source has been read.
    ZR_CUDA_TRY(cudaMemcpyAsync(tables_.data(), tables_on_host_.data(), sizeof(SizeTables),
                                cudaMemcpyHostToDevice, stream));
    has_task_ = true;
    ZR_CUDA_TRY(cudaMemsetAsync(states_.data(), 0, 2 * sizeof(SizeState), stream));
    return ZR_CUDA_STATUS(cudaMemsetAsync(counts_.data(), 0, 3 * sizeof(SymbolCounts), stream));
  }

  /// The first search, and codings with a search behind each. What the plan does not need is
  /// skipped.
  Status launch(const FrameJob& job, SizedCoding* outcome, int codings, cudaStream_t stream) {
    CodeTilesArgs planes = encoder_.tile_args(*setup_, 1), counted;
    ZR_TRY(encoder_.make_planes(*setup_, {&job, 1}, stream, {}, planes));
    ZR_TRY(sample_planes(planes, stream, counted));
    SearchSizeArgs args = search_args(counted);
    args.size = job.output.size;
    args.outcome = outcome;
    int state = phase_;
    const auto search = [&](bool starts) {
      args.starts = starts;
      args.before = states_.data() + state;
      state ^= 1;
      args.after = states_.data() + state;
      return search_size(args, stream);
    };
    ZR_TRY(search(true));
    for (int n = 0; n < codings; ++n) {
      CodeTilesArgs tiles = planes;
      tiles.chunk_bits = encoder_.chunk_bits_[encoder_.own()].data();
      tiles.skip = skip_.data();
      if (n == 0 && is_plain_first_) tiles.tune = nullptr;  // all coefficients are rounded
      const FrameJob coded{{}, {job.output.out, job.output.capacity, coded_.data()}};
      ZR_TRY(encoder_.code(*setup_, tiles, {&coded, 1}, args.specs != nullptr, stream, {}));
      encoder_.take_turns(1);
      ZR_TRY(search(false));
    }
    return Status::ok();
  }

  /// `counted`: whose symbols are counted, the sample's planes or the frame's.
  Status sample_planes(const CodeTilesArgs& planes, cudaStream_t stream, CodeTilesArgs& counted) {
    counted = planes;
    counted.layout = counted_;
    counted.grid = make_tile_grid(counted_);
    counted.skip = nullptr;
    if (!grid_) return Status::ok();
    CopySampleArgs copy{*grid_, counted_.components, {}, {}, {}, {}};
    for (int c = 0; c < counted_.components; ++c) {
      const ScanLayout::Component& component = counted_.component[c];
      const bool is_luma = c == 0;
      copy.tile_wide[c] = SampleGrid::kTile / (is_luma ? 1 : setup_->h_max);
      copy.tile_high[c] = SampleGrid::kTile / (is_luma ? 1 : setup_->v_max);
      const bool is_fitted = setup_->fits_chroma && !is_luma;
      copy.from[c] = planes.plane[0][c];
      // It is fitted as a part of the sample.
      if (is_fitted) copy.from[c].data = encoder_.planes_[c].data();
      copy.to[c] = planes_[c].data();
      counted.plane[0][c] = {is_fitted ? fitted_[c].data() : planes_[c].data(), component.width};
      counted.width[is_luma ? 0 : 1] = component.width;
      counted.height[is_luma ? 0 : 1] = component.height;
    }
    ZR_TRY(copy_sample(copy, stream));
    if (!setup_->fits_chroma) return Status::ok();
    FitChromaArgs fit{{}, {}, counted.width[1], counted.height[1], 0, 1};
    for (int c = 0; c < 2; ++c)
      fit.from[c] = planes_[c + 1].data(), fit.to[c] = fitted_[c + 1].data();
    return fit_chroma(fit, stream);
  }

  SearchSizeArgs search_args(const CodeTilesArgs& counted) const {
    const HeaderPlaces& places = encoder_.places_;
    SearchSizeArgs args{};
    args.counted = counted;
    args.tables = tables_.data();
    args.is_optimal = setup_->huffman == HuffmanTables::optimal;
    args.counts = counts_.data();
    args.coded = coded_.data();
    args.skip = skip_.data();
    args.reciprocals = encoder_.reciprocals_.data();
    args.tune = encoder_.tune_.data();
    if (setup_->huffman == HuffmanTables::trained) {
      args.specs = encoder_.specs_.data();
      args.codes = encoder_.tables_.data();
    }
    // With fixed tables the header is ready but for this; else it is made of its parts again.
    args.header[0] = encoder_.header_parts_.data();
    args.header[1] = encoder_.headers_.data();
    for (std::size_t t = 0; t < 2; ++t) args.dqt_at[t] = static_cast<std::uint32_t>(places.dqt[t]);
    args.tables_in_header = setup_->layout.components == 1 ? 1 : 2;
    args.note_at = static_cast<std::uint32_t>(places.setting.value_or(0));
    return args;
  }

  const SizeTask& task() const { return tables_on_host_[0].task; }

  FrameEncoder encoder_;
  std::optional<EncodeSetup> setup_;  // of the setting with the most bytes
  SizeGoal size_;                     // what the task was made of
  int quality_ = 0;
  std::optional<SampleGrid> grid_;  // nothing: frames are counted whole
  ScanLayout counted_{};
  bool is_ready_ = false;  // the device's memory is that of the shape, and of a frame's beginning
  bool has_task_ = false;  // the device has the task
  bool is_plain_first_ = false;
  int phase_ = 0;                           // which of states_ a frame begins with
  std::vector<SizeTables> tables_on_host_;  // one
  LaunchGraphs graphs_;
  DeviceBuffer<SizeTables> tables_;
  DeviceBuffer<SizeState> states_;     // two
  DeviceBuffer<SymbolCounts> counts_;  // three
  DeviceBuffer<std::uint64_t> coded_;
  DeviceBuffer<std::uint32_t> skip_;
  DeviceBuffer<std::uint8_t> planes_[kMaxComponents], fitted_[kMaxComponents];
};

}  // namespace zerorun
