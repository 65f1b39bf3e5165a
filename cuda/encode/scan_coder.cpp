// The order of the kernels of progressive frames, and their memory.
// SPDX-License-Identifier: MIT
#include "cuda/encode/scan_coder.hpp"

#include <algorithm>

#include "cuda/base/scratch.hpp"

namespace zerorun {
namespace {

/// Numbers of blocks and words are counted in 32 bits.
constexpr std::uint32_t kMostStoredBlocks = std::uint32_t{1} << 25;

/// Places of what the host sends once.
struct Uploads {
  CodedScan* plan;
  std::uint8_t* parts;
  CountJob* jobs;
  ScanChoices* choices;
};

/// Gives all arrays of `args` their place.
Uploads place_script_arrays(const ScriptPlan& plan, std::uint32_t frames, ScratchLayout& memory,
                            ScriptArgs& args) {
  const std::uint64_t tiles = std::uint64_t{frames} * args.tiles;
  const std::uint64_t scans = std::uint64_t{frames} * args.scans;
  const std::uint64_t blocks = std::uint64_t{frames} * plan.blocks;
  const Uploads uploads{memory.take<CodedScan>(args.scans),
                        memory.take<std::uint8_t>(plan.parts.size()),
                        memory.take<CountJob>(args.count_jobs), memory.take<ScanChoices>(1)};
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
  return uploads;
}

}  // namespace

Status ScanCoder::prepare(const ScriptShape& shape, std::span<const std::uint8_t> head,
                          std::uint32_t frames, cudaStream_t stream) {
  ScriptPlan plan;
  ZR_TRY(make_script_plan(shape, head, plan));
  if (plan.blocks > kMostStoredBlocks)
    return Status(Errc::out_of_memory,
                  "the CUDA backend codes 33554432 blocks of a progressive frame at most, this one "
                  "has " +
                      std::to_string(plan.blocks));
  args_ = {};
  std::copy_n(plan.component, kMaxComponents, args_.stored.component);
  args_.stored.blocks = plan.blocks;
  args_.stored.levels = plan.levels;
  args_.head_bytes = plan.head_bytes;
  args_.scans = static_cast<std::uint32_t>(plan.scans.size());
  args_.tiles = plan.tiles;
  args_.count_jobs = static_cast<std::uint32_t>(plan.jobs.size());
  args_.job_ctas = plan.job_ctas;
  args_.chunks = plan.chunks;
  args_.stream_ctas = plan.stream_ctas;
  args_.stream_chunks = plan.stream_chunks;
  args_.header_room = plan.header_room;
  args_.frame_words = plan.words;
  std::copy_n(plan.first_cta, kMaxJobs + 1, args_.first_cta);
  ScratchLayout measured(nullptr);
  place_script_arrays(plan, frames, measured, args_);
  ZR_TRY(memory_.reserve(static_cast<std::int64_t>(measured.bytes())));
  ScratchLayout memory(memory_.data());
  const Uploads to = place_script_arrays(plan, frames, memory, args_);
  // From pageable memory the calls return when the source has been read.
  const auto send = [stream](auto* device, const auto* host, std::size_t count) {
    return ZR_CUDA_STATUS(
        cudaMemcpyAsync(device, host, count * sizeof *host, cudaMemcpyHostToDevice, stream));
  };
  ZR_TRY(send(to.plan, plan.scans.data(), plan.scans.size()));
  ZR_TRY(send(to.parts, plan.parts.data(), plan.parts.size()));
  ZR_TRY(send(to.jobs, plan.jobs.data(), plan.jobs.size()));
  ZR_TRY(send(to.choices, &plan.choices, 1));
  args_.plan = to.plan;
  args_.parts = to.parts;
  args_.jobs = to.jobs;
  args_.choices = to.choices;
  return Status::ok();
}

Status ScanCoder::code(const CodeTilesArgs& tiles, std::span<const FrameOutput> outputs,
                       cudaStream_t stream, const StepProbe& probe) const {
  ScriptArgs args = args_;
  args.frames = tiles.frames;
  std::copy(outputs.begin(), outputs.end(), args.output);
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

}  // namespace zerorun
