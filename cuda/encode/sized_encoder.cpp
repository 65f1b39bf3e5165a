// The order of searches and codings.
// SPDX-License-Identifier: MIT
#include "cuda/encode/sized_encoder.hpp"

#include <utility>

#include "codec/pipeline/encode_setup.hpp"
#include "cuda/encode/copy_sample.hpp"

namespace zerorun {

Status SizedEncoder::set_shape(const EncodeParams& params, EncodeSetup& setup) {
  is_ready_ = false;
  graphs_.forget_all();
  EncodeSetup counted = setup;
  grid_ = SampleGrid::of(setup.width, setup.height);
  if (grid_) {
    EncodeParams of_sample = params;
    of_sample.index = false;
    constexpr int kTile = SampleGrid::kTile;
    ZR_LET(made,
           make_encode_setup(of_sample, setup.format, grid_->wide * kTile, grid_->high * kTile));
    counted = made;
  }
  counted_ = counted.layout;
  tables_on_host_.resize(1);
  make_size_tables(params, setup, counted, tables_on_host_[0]);
  const SizeTask& task = tables_on_host_[0].task;
  is_plain_first_ = task.tries_most && params.tune == Tune::exact;
  change_setting(params, task.most, setup);
  return Status::ok();
}

Status SizedEncoder::enqueue(const EncodeSetup& setup, FrameEncoder& encoder, const FrameJob& job,
                             cudaStream_t stream) {
  const bool was_ready = std::exchange(is_ready_, false);
  ZR_TRY(encoder.prepare_alone(setup, stream));
  if (!was_ready) ZR_TRY(prepare(stream));
  const FrameEncoder::Turn turn = encoder.turn();
  const auto number = [](const auto* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); };
  LaunchGraphs::Key key{static_cast<std::uint64_t>(phase_),
                        static_cast<std::uint64_t>(turn.parity),
                        turn.used_frames[0],
                        turn.used_frames[1],
                        number(encoder.tables().header),
                        number(job.output.out),
                        job.output.capacity,
                        number(job.output.size)};
  for (std::size_t p = 0; p < job.frame.data.size(); ++p)
    key.insert(key.end(),
               {number(job.frame.data[p]), static_cast<std::uint64_t>(job.frame.stride_bytes[p])});
  ZR_TRY(graphs_.run(key, stream, [&](cudaStream_t s) {
    encoder.start_codings(turn);
    return launch(setup, encoder, job, s);
  }));
  encoder.complete(turn, codings());
  phase_ = (phase_ + codings() + 1) % 2;
  is_ready_ = true;
  return Status::ok();
}

Status SizedEncoder::prepare(cudaStream_t stream) {
  graphs_.forget_all();
  ZR_TRY(tables_.reserve(1));
  ZR_TRY(states_.reserve(2));
  ZR_TRY(counts_.reserve(3));
  ZR_TRY(coded_.reserve(1));
  ZR_TRY(skip_.reserve(1));
  if (grid_)
    for (int c = 0; c < counted_.components; ++c)
      ZR_TRY(planes_[c].reserve(static_cast<std::int64_t>(plane_bytes(c))));
  // From pageable memory the call returns when the source has been read.
  ZR_CUDA_TRY(cudaMemcpyAsync(tables_.data(), tables_on_host_.data(), sizeof(SizeTables),
                              cudaMemcpyHostToDevice, stream));
  ZR_CUDA_TRY(cudaMemsetAsync(states_.data(), 0, 2 * sizeof(SizeState), stream));
  ZR_CUDA_TRY(cudaMemsetAsync(counts_.data(), 0, 3 * sizeof(SymbolCounts), stream));
  return Status::ok();
}

Status SizedEncoder::launch(const EncodeSetup& setup, FrameEncoder& encoder, const FrameJob& job,
                            cudaStream_t stream) {
  CodeTilesArgs planes, counted;
  ZR_TRY(encoder.launch_planes(setup, job.frame, stream, planes));
  ZR_TRY(sample_planes(setup, planes, stream, counted));
  SearchSizeArgs search = search_args(setup, encoder, counted, job);
  for (int n = 0; n <= codings(); ++n) {
    search.starts = n == 0;
    search.ends = n == codings();
    search.before = states_.data() + (phase_ + n) % 2;
    search.after = states_.data() + (phase_ + n + 1) % 2;
    ZR_TRY(search_size(search, stream));
    if (search.ends) break;
    FrameEncoder::Coding coding{job.output, skip_.data(), n == 0 && is_plain_first_,
                                search.specs != nullptr};
    coding.output.size = coded_.data();
    ZR_TRY(encoder.launch_coding(setup, planes, coding, stream));
  }
  return Status::ok();
}

/// `counted`: whose symbols are counted, the sample's planes or the frame's.
Status SizedEncoder::sample_planes(const EncodeSetup& setup, const CodeTilesArgs& planes,
                                   cudaStream_t stream, CodeTilesArgs& counted) {
  counted = planes;
  counted.layout = counted_;
  counted.grid = make_tile_grid(counted_, 0);
  counted.skip = nullptr;
  if (!grid_) return Status::ok();
  CopySampleArgs copy{*grid_, counted_.components, {}, {}, {}, {}};
  for (int c = 0; c < counted_.components; ++c) {
    const ScanLayout::Component& component = counted_.component[c];
    const bool is_luma = c == 0;
    copy.tile_wide[c] = SampleGrid::kTile / (is_luma ? 1 : setup.h_max);
    copy.tile_high[c] = SampleGrid::kTile / (is_luma ? 1 : setup.v_max);
    copy.from[c] = planes.plane[0][c];
    copy.to[c] = planes_[c].data();
    counted.plane[0][c] = {planes_[c].data(), component.width};
    counted.width[is_luma ? 0 : 1] = component.width;
    counted.height[is_luma ? 0 : 1] = component.height;
  }
  return copy_sample(copy, stream);
}

std::uint64_t SizedEncoder::plane_bytes(int component) const {
  const ScanLayout::Component& c = counted_.component[component];
  return static_cast<std::uint64_t>(c.width) * static_cast<std::uint64_t>(c.height);
}

SearchSizeArgs SizedEncoder::search_args(const EncodeSetup& setup, const FrameEncoder& encoder,
                                         const CodeTilesArgs& counted, const FrameJob& job) const {
  const FrameEncoder::Tables tables = encoder.tables();
  const HeaderPlaces& places = encoder.header_places();
  SearchSizeArgs args{};
  args.counted = counted;
  args.tables = tables_.data();
  args.is_optimal = setup.huffman == HuffmanTables::optimal;
  args.counts = counts_.data();
  args.coded = coded_.data();
  args.skip = skip_.data();
  args.reciprocals = tables.reciprocals;
  args.tune = tables.tune;
  if (setup.huffman == HuffmanTables::trained) {
    args.specs = tables.specs;
    args.codes = tables.codes;
  }
  // With fixed tables the header is ready but for this; else it is made of its parts again.
  args.header[0] = tables.header_parts;
  args.header[1] = tables.header;
  for (std::size_t t = 0; t < 2; ++t) args.dqt_at[t] = static_cast<std::uint32_t>(places.dqt[t]);
  args.tables_in_header = setup.layout.components == 1 ? 1 : 2;
  args.note_at = static_cast<std::uint32_t>(places.setting.value_or(0));
  args.size = job.output.size;
  return args;
}

}  // namespace zerorun
