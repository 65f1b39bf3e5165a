// The order of the encoder's kernels, and the memory that they share.
// SPDX-License-Identifier: MIT
#include "cuda/encode/frame_encoder.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "codec/base/pixel_rows.hpp"
#include "codec/pipeline/encode_pipeline.hpp"
#include "cuda/base/scratch.hpp"
#include "cuda/encode/packed_fdct.hpp"
#include "cuda/encode/tuning.hpp"
#include "cuda/stages/stages_cuda.hpp"

namespace zerorun {
namespace {

ReciprocalTables make_reciprocals(const std::array<QuantTable, 2>& quant) {
  ReciprocalTables tables{};
  for (int t = 0; t < 2; ++t)
    for (int y = 0; y < kBlockEdge; ++y)
      for (int x = 0; x < kBlockEdge; ++x)
        tables.at(t, x, y) = quant_reciprocal(
            quant[static_cast<std::size_t>(t)][static_cast<std::size_t>(y * kBlockEdge + x)]);
  return tables;
}

/// Bytes of a component's plane that color_subsample makes.
std::int64_t plane_bytes(const ScanLayout::Component& component) {
  return std::int64_t{plane_stride(component)} * component.height;
}

/// Whether the frame's first plane is luma as the stream has it, so that it is read in place.
bool has_luma_plane(const EncodeSetup& setup) {
  return setup.planes_are_components ||
         (!is_rgb(setup.format) && luma_access(setup.format).step == 1);
}

/// Whether memory and launches made for one setup fit the other.
bool same_shape(const EncodeSetup& a, const EncodeSetup& b) {
  return same_size(a, b) && a.h_max == b.h_max && a.v_max == b.v_max &&
         a.layout.components == b.layout.components &&
         a.layout.restart_interval == b.layout.restart_interval &&
         a.tune.active() == b.tune.active() && a.huffman == b.huffman &&
         a.progressive == b.progressive && a.restart_rows == b.restart_rows &&
         a.fixed_specs == b.fixed_specs;
}

/// And so do the tables on the device.
bool same_tables(const EncodeSetup& a, const EncodeSetup& b) {
  return a.quant == b.quant && a.tune == b.tune;
}

/// Numbers of blocks and words are counted in 32 bits.
constexpr std::uint32_t kMostStoredBlocks = std::uint32_t{1} << 25;

/// Gives all arrays of `args` their place. Returns the bytes of all of them.
std::size_t place_script_arrays(const ScriptPlan& plan, std::uint32_t frames, void* at,
                                ScriptArgs& args) {
  ScratchLayout memory(at);
  const std::uint64_t tiles = std::uint64_t{frames} * args.tiles;
  const std::uint64_t scans = std::uint64_t{frames} * args.scans;
  const std::uint64_t blocks = std::uint64_t{frames} * plan.blocks;
  args.plan = memory.take<CodedScan>(args.scans);
  args.parts = memory.take<std::uint8_t>(plan.parts.size());
  args.jobs = memory.take<CountJob>(args.count_jobs);
  args.choices = memory.take<ScanChoices>(1);
  args.stored.dc = memory.take<std::int16_t>(blocks);
  args.stored.nonzero = memory.take<std::uint64_t>(blocks * plan.levels);
  args.stored.ac = memory.take<std::int16_t>(blocks * kBlockSize);
  args.marks = memory.take<TileMarks>(tiles);
  args.tail_bits = memory.take<std::uint8_t>(tiles * kTileBlocks);
  args.specs = memory.take<HuffmanSpec>(scans * kScanTables);
  args.codes = memory.take<std::uint32_t>(scans * kScanTables * 256);
  args.bits = memory.take<std::uint64_t>(scans);
  args.streams = memory.take<StreamOrder>(frames);
  args.words = memory.take<std::uint32_t>(frames * args.frame_words);
  args.tile_bits = memory.take<std::uint32_t>(tiles);
  args.tile_at = memory.take<std::uint32_t>(tiles);
  args.headers = memory.take<std::uint8_t>(std::uint64_t{frames} * args.header_room);
  const std::size_t first = memory.bytes();
  args.counts = memory.take<JobCounts>(std::uint64_t{frames} * args.count_jobs);
  args.runs = memory.take<std::uint16_t>(tiles * kTileBlocks);
  args.corrections = memory.take<std::uint32_t>(scans);
  args.chunk_bits = memory.take<std::uint32_t>(std::uint64_t{frames} * args.chunks);
  args.cta_states = memory.take<std::uint64_t>(std::uint64_t{frames} * args.stream_ctas);
  args.chunk_states = memory.take<std::uint64_t>(std::uint64_t{frames} * args.stream_chunks);
  args.cleared = reinterpret_cast<std::uint64_t*>(args.counts);
  args.cleared_count = (memory.bytes() - first) / sizeof(std::uint64_t);
  return memory.bytes();
}

}  // namespace

void append_job(LaunchGraphs::Key& key, const FrameJob& job) {
  const auto number = [](const auto* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); };
  for (std::size_t p = 0; p < job.frame.data.size(); ++p)
    key.insert(key.end(),
               {number(job.frame.data[p]), static_cast<std::uint64_t>(job.frame.stride_bytes[p])});
  key.insert(key.end(), {number(job.output.out), job.output.capacity, number(job.output.size)});
}

int frames_of_launch(std::int64_t blocks) {
  return static_cast<int>(std::clamp<std::int64_t>(kLaunchBlocks / blocks, 1, kMaxFrames));
}

/// Tiles and MCUs are counted in 32 bits.
Status FrameEncoder::check_size(const ScanLayout& layout) {
  constexpr std::int64_t kMost = std::int64_t{1} << 28;
  if (layout.blocks() <= kMost) return Status::ok();
  return Status(Errc::out_of_memory, "the CUDA backend codes " + std::to_string(kMost) +
                                         " blocks of a frame at most, this one has " +
                                         std::to_string(layout.blocks()));
}

void FrameEncoder::set_header(const EncodeParams& params, const EncodeSetup& setup) {
  places_ = write_header(make_stream_header(params, setup, {}), header_);
  header_.erase(header_.begin() + static_cast<std::ptrdiff_t>(places_.dht.begin),
                header_.begin() + static_cast<std::ptrdiff_t>(places_.dht.end));
  envelope_ = {};
  envelope_.parts_bytes = static_cast<std::uint32_t>(header_.size());
  envelope_.dht_at = static_cast<std::uint32_t>(places_.dht.begin);
  setup_.reset();
}

Status FrameEncoder::enqueue(const EncodeSetup& setup, std::span<const FrameJob> jobs,
                             cudaStream_t stream, const StepProbe& probe) {
  const auto frames = static_cast<std::uint32_t>(jobs.size());
  ZR_TRY(bring_up_to_date(setup, frames, stream));
  const auto launch = [&](cudaStream_t s) -> Status {
    CodeTilesArgs tiles = tile_args(setup, frames);
    ZR_TRY(make_planes(setup, jobs, s, probe, tiles));
    return code(setup, tiles, jobs, false, s, probe);
  };
  if (probe) {
    ZR_TRY(launch(stream));
  } else {
    key_ = {jobs.size(), static_cast<std::uint64_t>(turn_.parity), turn_.used_frames[other()]};
    for (const FrameJob& job : jobs) append_job(key_, job);
    ZR_TRY(graphs_.run(key_, stream, launch));
  }
  take_turns(frames);
  complete_ = true;
  return announce(probe, "");
}

void FrameEncoder::take_turns(std::uint32_t frames) {
  turn_.used_frames[own()] = frames;
  turn_.used_frames[other()] = 0;
  turn_.parity ^= 1;
}

Status FrameEncoder::enqueue_counts(const EncodeSetup& setup, const ConstFrameView& frame,
                                    SymbolCounts* counts, cudaStream_t stream) {
  ZR_TRY(bring_up_to_date(setup, 1, stream));
  ZR_TRY(reserve_items());  // which are counted, and not coded
  CodeTilesArgs tiles = tile_args(setup, 1);
  const FrameJob job{frame, {}};
  ZR_TRY(make_planes(setup, {&job, 1}, stream, {}, tiles));
  ZR_TRY(collect_tiles(tiles, counts_.data(), stream));
  ZR_CUDA_TRY(
      cudaMemcpyAsync(counts, counts_.data(), sizeof *counts, cudaMemcpyDeviceToHost, stream));
  ZR_CUDA_TRY(cudaMemsetAsync(counts_.data(), 0, sizeof *counts, stream));
  complete_ = true;
  return Status::ok();
}

/// Makes memory and tables ready for what follows, which is not complete before it says so.
Status FrameEncoder::bring_up_to_date(const EncodeSetup& setup, std::uint32_t frames,
                                      cudaStream_t stream) {
  if (!std::exchange(complete_, false) || !setup_ || !same_shape(*setup_, setup) || frames > room_)
    return prepare(setup, frames, stream);
  if (same_tables(*setup_, setup)) return Status::ok();
  setup_.reset();
  ZR_TRY(upload_rules(setup, stream));
  setup_ = setup;
  return Status::ok();
}

/// All but the planes.
CodeTilesArgs FrameEncoder::tile_args(const EncodeSetup& setup, std::uint32_t frames) {
  return {setup.layout,
          grid_,
          frames,
          setup.huffman == HuffmanTables::optimal,
          {},
          {},
          {},
          reciprocals_.data(),
          setup.tune.active() ? tune_.data() : nullptr,
          codes_.data(),
          words_.data(),
          tile_bits_.data(),
          chunk_bits_[own()].data(),
          items_.data(),
          item_count_.data(),
          nullptr};
}

Status FrameEncoder::code(const EncodeSetup& setup, const CodeTilesArgs& tiles,
                          std::span<const FrameJob> jobs, bool codes_change, cudaStream_t stream,
                          const StepProbe& probe) {
  if (setup.progressive) return code_all_scans(tiles, jobs, stream, probe);
  if (setup.huffman == HuffmanTables::optimal) {
    ZR_TRY(code_optimal(tiles, collect_tiles, code_collected_tiles, stream, probe));
  } else {
    if (codes_change) ZR_TRY(make_fixed_tables(tiles.skip, stream));
    ZR_TRY(announce(probe, "code_tiles"));
    ZR_TRY(code_tiles(tiles, stream));
  }
  return assemble_streams(tiles, jobs, stream, probe);
}

Status FrameEncoder::code_optimal(const CodeTilesArgs& tiles, const TileKernel& collect,
                                  const TileKernel& code, cudaStream_t stream,
                                  const StepProbe& probe) {
  ZR_TRY(announce(probe, "collect_tiles"));
  ZR_TRY(collect(tiles, counts_.data(), stream));
  ZR_TRY(announce(probe, "optimal_tables"));
  ZR_TRY(make_optimal_tables({tiles.frames, counts_.data(), specs_.data(), destinations(),
                              envelope_, codes_.data(), tiles.skip},
                             stream));
  ZR_TRY(announce(probe, "code_collected_tiles"));
  return code(tiles, counts_.data(), stream);
}

Status FrameEncoder::enqueue_items(const EncodeSetup& setup, const TileKernel& collect,
                                   const TileKernel& code, const std::uint32_t* skip,
                                   const FrameOutput& output, cudaStream_t stream) {
  ZR_TRY(bring_up_to_date(setup, 1, stream));
  CodeTilesArgs tiles = tile_args(setup, 1);
  tiles.skip = skip;
  ZR_TRY(code_optimal(tiles, collect, code, stream, {}));
  const FrameJob job{{}, output};
  return assemble_streams(tiles, {&job, 1}, stream, {});
}

Status FrameEncoder::assemble_streams(const CodeTilesArgs& tiles, std::span<const FrameJob> jobs,
                                      cudaStream_t stream, const StepProbe& probe) {
  ZR_TRY(announce(probe, "assemble"));
  AssembleArgs args{grid_,
                    tiles.frames,
                    words_.data(),
                    tile_bits_.data(),
                    chunk_bits_[own()].data(),
                    envelope_,
                    states_[own()].data(),
                    states_[other()].data(),
                    chunk_bits_[other()].data(),
                    turn_.used_frames[other()],
                    tiles.skip,
                    {}};
  for (std::size_t f = 0; f < jobs.size(); ++f) args.output[f] = jobs[f].output;
  return assemble(args, stream);
}

Status FrameEncoder::code_all_scans(const CodeTilesArgs& tiles, std::span<const FrameJob> jobs,
                                    cudaStream_t stream, const StepProbe& probe) {
  ScriptArgs args = scan_args_;
  args.frames = tiles.frames;
  std::ranges::transform(jobs, args.output, &FrameJob::output);
  ZR_TRY(announce(probe, "store_blocks"));
  ZR_TRY(store_blocks(tiles, args, stream));
  ZR_TRY(announce(probe, "mark_blocks"));
  ZR_TRY(mark_blocks(args, stream));
  ZR_TRY(announce(probe, "count_scans"));
  ZR_TRY(count_scans(args, stream));
  ZR_TRY(announce(probe, "scan_tables"));
  ZR_TRY(make_scan_tables(args, stream));
  ZR_TRY(announce(probe, "code_scans"));
  ZR_TRY(code_scans(args, stream));
  ZR_TRY(announce(probe, "assemble_scans"));
  return assemble_scans(args, stream);
}

/// Makes memory and tables for a shape.
Status FrameEncoder::prepare(const EncodeSetup& setup, std::uint32_t frames, cudaStream_t stream) {
  setup_.reset();
  graphs_.forget_all();
  room_ = frames;
  turn_ = {};
  ZR_TRY(check_size(setup.layout));
  grid_ = make_tile_grid(setup.layout);
  if (!setup.planes_are_components)
    for (int c = has_luma_plane(setup) ? 1 : 0; c < setup.layout.components; ++c)
      ZR_TRY(planes_[c].reserve(room_ * plane_bytes(setup.layout.component[c])));
  for (int c = 1; c < setup.layout.components && setup.fits_chroma; ++c)
    ZR_TRY(fitted_[c].reserve(room_ * plane_bytes(setup.layout.component[c])));
  ZR_TRY(reciprocals_.reserve(1));
  ZR_TRY(tune_.reserve(1));
  ZR_TRY(upload_rules(setup, stream));
  const bool has_counts = setup.huffman == HuffmanTables::optimal && !setup.progressive;
  const std::uint32_t counts = has_counts ? room_ : 1;  // one for enqueue_counts()
  ZR_TRY(counts_.reserve(counts));
  ZR_CUDA_TRY(cudaMemsetAsync(counts_.data(), 0, counts * sizeof(SymbolCounts), stream));
  setup_ = setup;
  return setup.progressive ? prepare_scans(setup, stream) : prepare_tiles(setup, stream);
}

/// Of progressive frames. Returns when the header and the plan have been read.
Status FrameEncoder::prepare_scans(const EncodeSetup& setup, cudaStream_t stream) {
  ScriptPlan plan;
  ZR_TRY(make_script_plan({setup.width,
                           setup.height,
                           setup.layout.components,
                           {setup.h_max, setup.v_max},
                           setup.restart_rows > 0 ? 0 : setup.layout.restart_interval,
                           setup.restart_rows},
                          header_, plan));
  if (plan.blocks > kMostStoredBlocks)
    return Status(Errc::out_of_memory,
                  "the CUDA backend codes 33554432 blocks of a progressive frame at most, this one "
                  "has " +
                      std::to_string(plan.blocks));
  ScriptArgs& args = scan_args_ = {};
  std::copy_n(plan.component, kMaxComponents, args.stored.component);
  args.stored.blocks = plan.blocks;
  args.stored.levels = plan.levels;
  args.head_bytes = plan.head_bytes;
  args.scans = static_cast<std::uint32_t>(plan.scans.size());
  args.tiles = plan.tiles;
  args.count_jobs = static_cast<std::uint32_t>(plan.jobs.size());
  args.job_ctas = plan.job_ctas;
  args.chunks = plan.chunks;
  args.stream_ctas = plan.stream_ctas;
  args.stream_chunks = plan.stream_chunks;
  args.header_room = plan.header_room;
  args.frame_words = plan.words;
  std::copy_n(plan.first_cta, kMaxJobs + 1, args.first_cta);
  const std::size_t bytes = place_script_arrays(plan, room_, nullptr, args);
  ZR_TRY(scan_memory_.reserve(static_cast<std::int64_t>(bytes)));
  place_script_arrays(plan, room_, scan_memory_.data(), args);
  // From pageable memory the calls return when the source has been read.
  const auto send = [stream]<typename T>(const T* device, const T* host, std::size_t count) {
    return ZR_CUDA_STATUS(cudaMemcpyAsync(const_cast<T*>(device), host, count * sizeof(T),
                                          cudaMemcpyHostToDevice, stream));
  };
  ZR_TRY(send(args.plan, plan.scans.data(), plan.scans.size()));
  ZR_TRY(send(args.parts, plan.parts.data(), plan.parts.size()));
  ZR_TRY(send(args.jobs, plan.jobs.data(), plan.jobs.size()));
  return send(args.choices, &plan.choices, 1);
}

Status FrameEncoder::prepare_tiles(const EncodeSetup& setup, cudaStream_t stream) {
  const std::int64_t tiles = std::int64_t{room_} * grid_.tiles;
  const std::int64_t chunks = std::int64_t{room_} * grid_.chunks;
  const bool optimal = setup.huffman == HuffmanTables::optimal;
  const std::uint32_t tables = optimal ? room_ : 1;
  ZR_TRY(codes_.reserve(tables));
  if (!optimal) ZR_TRY(tables_.reserve(1));
  ZR_TRY(specs_.reserve(tables * kEncodeTables));
  const std::uint32_t header_room = envelope_.parts_bytes + kMaxDhtBytes;
  ZR_TRY(header_parts_.reserve(envelope_.parts_bytes));
  ZR_TRY(headers_.reserve(std::int64_t{tables} * header_room));
  ZR_TRY(header_bytes_.reserve(tables));
  envelope_.parts = header_parts_.data();
  envelope_.header = headers_.data();
  envelope_.header_bytes = header_bytes_.data();
  envelope_.stride = optimal ? header_room : 0;
  ZR_TRY(words_.reserve(tiles * kTileWords));
  ZR_TRY(tile_bits_.reserve(tiles));
  if (optimal) ZR_TRY(reserve_items());
  for (std::size_t half = 0; half < 2; ++half) {
    ZR_TRY(states_[half].reserve(chunks));
    ZR_TRY(chunk_bits_[half].reserve(chunks));
    const auto count = static_cast<std::size_t>(chunks);
    ZR_CUDA_TRY(cudaMemsetAsync(states_[half].data(), 0, count * sizeof(std::uint64_t), stream));
    ZR_CUDA_TRY(
        cudaMemsetAsync(chunk_bits_[half].data(), 0, count * sizeof(std::uint32_t), stream));
  }
  // From pageable memory the calls return when the source has been read.
  if (!header_.empty())
    ZR_CUDA_TRY(cudaMemcpyAsync(header_parts_.data(), header_.data(), header_.size(),
                                cudaMemcpyHostToDevice, stream));
  if (optimal)
    return ZR_CUDA_STATUS(cudaMemsetAsync(codes_.data(), 0, room_ * sizeof(CodeTable), stream));
  ZR_TRY(upload_huffman(*setup.fixed_specs, specs_.data(), tables_.data(), stream));
  return make_fixed_tables(nullptr, stream);
}

Status FrameEncoder::reserve_items() {
  const std::int64_t tiles = std::int64_t{room_} * grid_.tiles;
  ZR_TRY(items_.reserve(tiles * kTileItems));
  return item_count_.reserve(tiles);
}

/// Uploads what depends on the quality, in stream order: earlier frames are coded with the old
/// tables.
Status FrameEncoder::upload_rules(const EncodeSetup& setup, cudaStream_t stream) {
  const ReciprocalTables reciprocals = make_reciprocals(setup.quant);
  ZR_CUDA_TRY(cudaMemcpyAsync(reciprocals_.data(), &reciprocals, sizeof reciprocals,
                              cudaMemcpyHostToDevice, stream));
  return ZR_CUDA_STATUS(cudaMemcpyAsync(tune_.data(), &setup.tune, sizeof setup.tune,
                                        cudaMemcpyHostToDevice, stream));
}

Status FrameEncoder::make_planes(const EncodeSetup& setup, std::span<const FrameJob> jobs,
                                 cudaStream_t stream, const StepProbe& probe, CodeTilesArgs& args) {
  for (int c = 0; c < std::min(setup.layout.components, 2); ++c) {
    const auto& component = setup.layout.component[c];
    const bool in_place = c == 0 ? has_luma_plane(setup) : setup.planes_are_components;
    args.width[c] = in_place ? component.width : plane_stride(component);
    args.height[c] = component.height;
  }
  const ScanLayout& layout = setup.layout;
  if (setup.planes_are_components) {
    for (std::size_t f = 0; f < jobs.size(); ++f)
      for (std::size_t c = 0; c < static_cast<std::size_t>(layout.components); ++c)
        args.plane[f][c] = {jobs[f].frame.data[c], jobs[f].frame.stride_bytes[c]};
    return Status::ok();
  }
  ZR_TRY(announce(probe, "color_subsample"));
  const ConstFrameView& first = jobs[0].frame;
  ColorSubsampleArgs made{first, layout.components, setup.h_max,       setup.v_max, {},
                          0,     first.height,      setup.shapes_noise};
  PlaneOffsets step{};
  std::array<ConstFrameView, kMaxFrames> frames;
  for (std::size_t f = 0; f < jobs.size(); ++f) {
    frames[f] = jobs[f].frame;
    args.plane[f][0] = {frames[f].data[0], frames[f].stride_bytes[0]};
  }
  for (int c = has_luma_plane(setup) ? 1 : 0; c < layout.components; ++c) {
    const auto& component = layout.component[c];
    const std::int32_t stride = plane_stride(component);
    step.of[c] = plane_bytes(component);
    made.plane[c] = {planes_[c].data(), stride, stride, component.height};
    for (std::size_t f = 0; f < jobs.size(); ++f)
      args.plane[f][c] = {planes_[c].data() + static_cast<std::int64_t>(f) * step.of[c], stride};
  }
  ZR_TRY(color_subsample_frames(made, {frames.data(), jobs.size()}, step, stream));
  if (!setup.fits_chroma) return Status::ok();
  ZR_TRY(announce(probe, "fit_chroma"));
  for (int c = 1; c < layout.components; ++c)
    for (std::size_t f = 0; f < jobs.size(); ++f)
      args.plane[f][c].data = fitted_[c].data() + static_cast<std::int64_t>(f) * step.of[c];
  FitChromaArgs fit{{}, {}, made.plane[1].width, made.plane[1].height, step.of[1], args.frames};
  for (int c = 0; c < 2; ++c)
    fit.from[c] = planes_[c + 1].data(), fit.to[c] = fitted_[c + 1].data();
  return fit_chroma(fit, stream);
}

Status FrameEncoder::make_fixed_tables(const std::uint32_t* skip, cudaStream_t stream) {
  return make_stream_tables(
      {specs_.data(), tables_.data(), destinations(), envelope_, codes_.data(), skip}, stream);
}

}  // namespace zerorun
