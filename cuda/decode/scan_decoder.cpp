// The order of the kernels, and the memory that they share.
// SPDX-License-Identifier: MIT
#include "cuda/decode/scan_decoder.hpp"

#include <algorithm>
#include <utility>

#include "codec/arith/integer.hpp"
#include "cuda/base/this_device.hpp"
#include "cuda/decode/scan_plan.hpp"

namespace zerorun {

Status ScanStates::take(const Counts& counts, cudaStream_t stream, Parts& out) {
  const std::uint32_t exits = ceil_div(counts.chunks, 2u);
  const std::uint32_t words = counts.tiles + counts.chunks + exits + counts.transforms;
  // The memory is not clean again until the scan has ended, whatever happens from here on.
  const bool clean = std::exchange(clean_, false);
  if (!clean || words > capacity_) {
    capacity_ = std::max(capacity_, words);
    ZR_TRY(summary_.reserve(2));
    for (DeviceBuffer<std::uint64_t>& states : states_) {
      ZR_TRY(states.reserve(capacity_));
      ZR_CUDA_TRY(cudaMemsetAsync(states.data(), 0, capacity_ * sizeof *states.data(), stream));
    }
    ZR_CUDA_TRY(cudaMemsetAsync(summary_.data(), 0, 2 * sizeof(ScanSummary), stream));
    old_words_ = 0;
  }
  turn_ = 1 - turn_;
  out.summary = summary_.data() + turn_;
  out.tile = states_[turn_].data();
  out.chunk_counts = out.tile + counts.tiles;
  out.chunk_exit = reinterpret_cast<std::uint32_t*>(out.chunk_counts + counts.chunks);
  out.transform = out.chunk_counts + counts.chunks + exits;
  out.old_summary = summary_.data() + (1 - turn_);
  out.old_states = states_[1 - turn_].data();
  out.old_words = std::exchange(old_words_, words);
  return Status::ok();
}

namespace {

/// What is known of a scan before its sizes are.
ScanNeeds needs_of(const PairCycle& cycle) {
  ScanNeeds needs{};
  needs.pairs = static_cast<std::uint32_t>(cycle.pairs);
  needs.period = static_cast<std::uint32_t>(cycle.period);
  return needs;
}

bool has_standard_codes(const ScanHeader& scan, const PairCycle& cycle) {
  const auto is_standard = [](const std::optional<HuffmanSpec>& spec) {
    return std::ranges::find(standard_huffman_specs(), spec) != standard_huffman_specs().end();
  };
  bool all = true;
  for (std::int32_t pair = 0; pair < cycle.pairs; ++pair)
    all = all && is_standard(scan.dc[cycle.dc_table[pair]]) &&
          is_standard(scan.ac[cycle.ac_table[pair]]);
  return all;
}

}  // namespace

Status ScanDecoder::create(bool exhaustive_only) {
  exhaustive_only_ = exhaustive_only;
  ZR_LET(limits, current_limits());
  limits_ = limits;
  ZR_TRY(prepare_unstuff_scan());
  ZR_TRY(prepare_sync_subsequences());
  ZR_TRY(prepare_decode_subsequences());
  ZR_TRY(tables_.reserve(1));
  ZR_TRY(steps_.reserve(1));
  ZR_TRY(end_.create());
  return report_.reserve(1);
}

bool ScanDecoder::takes(const ScanHeader& scan, std::size_t bytes) const {
  constexpr std::int64_t kMostBlocks = std::int64_t{1} << 28;
  return bytes != 0 && bytes <= kMostBytes && scan.layout.blocks() < kMostBlocks &&
         plan_map(limits_, needs_of(make_pair_cycle(scan.layout))).fits;
}

ScanDecoder::Sizes ScanDecoder::sizes_of(const ScanHeader& scan, const Input& in) {
  const ScanLayout& layout = scan.layout;
  const auto lead = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(in.data) % 16);
  Sizes sizes{};
  sizes.bytes = static_cast<std::uint32_t>(in.bytes);
  sizes.intervals = static_cast<std::uint32_t>(layout.intervals());
  sizes.blocks = static_cast<std::uint32_t>(layout.blocks());
  sizes.interval_blocks =
      static_cast<std::uint32_t>(layout.interval_mcus() * layout.blocks_per_mcu);
  sizes.subsequences = first_subsequence_of(sizes.intervals, sizes.bytes);
  sizes.pair_capacity = static_cast<std::uint32_t>(std::min<std::uint64_t>(
      most_pairs(std::uint64_t{sizes.bytes} * 8), std::uint64_t{sizes.blocks} * kBlockSize));
  sizes.tiles = unstuff_tiles(sizes.bytes, lead);
  sizes.transform_ctas = ceil_div(sizes.blocks, kTransformBlocks);
  return sizes;
}

/// Zero at first: decode_subsequences() reads all of them before it knows that the attempt failed,
/// and then some may not have been written.
Status ScanDecoder::reserve_own(const Job& job) {
  const std::int64_t before = own_.capacity();
  ZR_TRY(own_.reserve(std::int64_t{job.plan.chunks} * job.plan.chunk_subsequences));
  if (own_.capacity() == before) return Status::ok();
  const auto bytes = static_cast<std::size_t>(own_.capacity()) * sizeof(OwnSubsequence);
  ZR_CUDA_TRY(cudaMemsetAsync(own_.data(), 0, bytes, job.stream));
  return Status::ok();
}

Status ScanDecoder::reserve(const Job& job) {
  const Sizes& sizes = job.sizes;
  // Words may be copied by fours.
  ZR_TRY(clean_.reserve(std::int64_t{sizes.bytes} + kCleanPadding + 24));
  ZR_TRY(interval_first_.reserve(std::int64_t{sizes.intervals} + 1));
  if (!job.plan.collects) ZR_TRY(reserve_own(job));
  const std::int64_t pairs = std::int64_t{sizes.pair_capacity} + kMostWalkPairs;
  ZR_TRY(pairs_.reserve(pairs));
  ZR_TRY(wide_.reserve(pairs));
  return block_pair_.reserve(std::int64_t{sizes.blocks} + 1 + kMostWalkPairs);
}

/// Takes the scan's codes. Returns how many pairs of code tables are to be made: none, if they are
/// those of the scan before.
std::int32_t ScanDecoder::take_codes(const ScanHeader& scan) {
  const PairCycle cycle = make_pair_cycle(scan.layout);
  bool same = cycle.pairs <= code_pairs_;
  const auto update = [&same](HuffmanSpec& known, const HuffmanSpec& spec) {
    if (known == spec) return;
    known = spec;
    same = false;
  };
  for (std::int32_t pair = 0; pair < cycle.pairs; ++pair) {
    update(source_.codes.of[kDcSide][pair], *scan.dc[cycle.dc_table[pair]]);
    update(source_.codes.of[kAcSide][pair], *scan.ac[cycle.ac_table[pair]]);
  }
  return same ? 0 : cycle.pairs;
}

/// Takes the scan's quantisers. Returns whether they are those of the scan before.
bool ScanDecoder::take_quantisers(const ScanHeader& scan) {
  if (quant_tables_ == scan.quant) return true;
  for (std::size_t c = 0; c < kMaxComponents; ++c)
    for (std::size_t k = 0; k < kBlockSize; ++k)
      source_.steps.step[c][k] =
          make_scan_step(scan.quant[c][kNaturalOfZigzag[k]], kNaturalOfZigzag[k]);
  find_usual_pairs(source_.steps);
  return false;
}

Status ScanDecoder::prepare(const ScanHeader& scan, cudaStream_t stream) {
  const std::int32_t pairs = take_codes(scan);
  if (take_quantisers(scan) && pairs == 0) return Status::ok();
  const std::int32_t made = pairs == 0 ? code_pairs_ : pairs;
  code_pairs_ = 0;
  quant_tables_.reset();
  ZR_TRY(make_scan_tables(source_, pairs, tables_.data(), steps_.data(), stream));
  code_pairs_ = made;
  quant_tables_ = scan.quant;
  return Status::ok();
}

Result<ScanResult> ScanDecoder::decode(const ScanHeader& scan, const Input& in,
                                       const PlaneView* planes, cudaStream_t stream,
                                       const StepProbe& probe, const Behind& behind) {
  Job job{scan, in, planes, stream, probe, make_pair_cycle(scan.layout), sizes_of(scan, in),
          {},   {}, {}};
  job.needs = needs_of_job(job);
  job.plan = plan_scan(limits_, job.needs, choose_strategy(job));
  if (!job.plan.fits) job.plan = plan_map(limits_, job.needs);
  const ScanReport& report = *report_.data();
  ZR_TRY(run(job, behind));
  if (job.plan.strategy == Strategy::map) {
    const StrategyMemory::Shape shape{job.sizes.blocks, job.sizes.bytes};
    if (report.faults == 0) {
      memory_.map_was_tried(shape, /*failed=*/false);
    } else if ((report.faults & kFaultUnsettled) != 0) {
      job.plan = plan_exhaustive(limits_, job.needs);
      if (!job.plan.fits) return ScanResult{false, 0};
      ZR_TRY(run(job, behind));
      if (report.faults == 0) memory_.map_was_tried(shape, /*failed=*/true);
    }
  }
  return ScanResult{report.faults == 0 && report.dc_fault == 0, report.consumed_bytes};
}

Strategy ScanDecoder::choose_strategy(const Job& job) {
  if (exhaustive_only_) return Strategy::exhaustive;
  const Strategy first = first_strategy(job.needs);
  const bool skips =
      first == Strategy::map && memory_.skips_map({job.sizes.blocks, job.sizes.bytes});
  return skips ? Strategy::exhaustive : first;
}

/// One attempt.
Status ScanDecoder::run(Job& job, const Behind& behind) {
  ZR_TRY(enqueue(job));
  if (behind) ZR_TRY(behind(&job.states.summary->outcome));
  if (job.in.is_alone)
    ZR_TRY(end_.wait(job.stream));
  else
    ZR_CUDA_TRY(cudaStreamSynchronize(job.stream));
  states_.ended();
  return Status::ok();
}

Status ScanDecoder::enqueue(Job& job) {
  const Sizes& sizes = job.sizes;
  ZR_TRY(reserve(job));
  *report_.data() = {};
  ZR_TRY(
      states_.take({sizes.tiles, job.plan.chunks, sizes.transform_ctas}, job.stream, job.states));
  // A graph begins some microseconds later than a kernel, which counts only where a scan is alone.
  // Beside others 640x480, one of sixteen, takes 6.2 us so and 7.1 by single launches; 1920x1080
  // takes 15.4 and 15.5 (H200).
  chain_.begin(job.stream, !job.in.is_alone && !job.in.is_timed);
  ZR_TRY(enqueue_unstuff(job));
  ZR_TRY(enqueue_subsequences(job));
  ZR_TRY(enqueue_transform(job));
  ZR_CUDA_TRY(chain_.launch());
  return announce(job.probe, "");
}

Status ScanDecoder::enqueue_unstuff(const Job& job) {
  ZR_TRY(announce(job.probe, "unstuff_scan"));
  return unstuff_scan(
      {job.in.data, job.sizes.bytes, job.sizes.intervals, job.in.is_on_host, job.in.is_alone,
       clean_.data(), interval_first_.data(), job.states.tile, job.states.summary, report_.data(),
       job.states.old_states, job.states.old_words, job.states.old_summary},
      chain_);
}

WalkArgs ScanDecoder::walk_args(const Job& job) {
  const Sizes& sizes = job.sizes;
  WalkArgs args{};
  args.words = reinterpret_cast<const std::uint32_t*>(clean_.data());
  args.interval_first = interval_first_.data();
  args.tables = tables_.data();
  args.cycle = job.cycle;
  args.intervals = sizes.intervals;
  args.interval_blocks = sizes.interval_blocks;
  args.blocks = sizes.blocks;
  args.pair_capacity = sizes.pair_capacity;
  args.summary = job.states.summary;
  args.pairs = pairs_.data();
  args.wide = wide_.data();
  args.block_pair = block_pair_.data();
  return args;
}

ScanNeeds ScanDecoder::needs_of_job(const Job& job) {
  ScanNeeds needs = needs_of(job.cycle);
  needs.bytes = job.sizes.bytes;
  needs.blocks = job.sizes.blocks;
  needs.subsequences = job.sizes.subsequences;
  needs.is_followed = job.in.is_on_host;
  needs.standard_codes = has_standard_codes(job.scan, job.cycle);
  return needs;
}

Status ScanDecoder::enqueue_subsequences(const Job& job) {
  const ScanPlan& plan = job.plan;
  WalkArgs args = walk_args(job);
  args.chunks = plan.chunks;
  args.chunk_subsequences = plan.chunk_subsequences;
  args.guess_stride = plan.guess_stride;
  args.most_ends = plan.most_ends;
  args.mark_slots = plan.mark_slots;
  args.most_serial_walks = plan.most_serial_walks;
  args.collects = plan.collects;
  args.exhaustive = plan.strategy == Strategy::exhaustive;
  args.own = own_.data();
  args.chunk_counts = job.states.chunk_counts;
  if (job.in.is_on_host && plan.collects) args.tile_states = job.states.tile;
  args.tiles = job.sizes.tiles;
  args.chunk_exit = job.states.chunk_exit;
  ZR_TRY(announce(job.probe, "sync_subsequences"));
  ZR_TRY(sync_subsequences(args, plan.sync_bytes, chain_));
  if (plan.collects) return Status::ok();
  ZR_TRY(announce(job.probe, "decode_subsequences"));
  return decode_subsequences(args, plan.decode_bytes, chain_);
}

Status ScanDecoder::enqueue_transform(const Job& job) {
  ZR_TRY(announce(job.probe, "transform_blocks"));
  const ScanLayout& layout = job.scan.layout;
  TransformBlocksArgs args{};
  args.layout = layout;
  args.blocks = job.sizes.blocks;
  args.by_interval_blocks = KnownDivisor(job.sizes.interval_blocks);
  args.by_mcu_blocks = KnownDivisor(static_cast<std::uint32_t>(layout.blocks_per_mcu));
  args.by_mcus_wide = KnownDivisor(static_cast<std::uint32_t>(layout.mcus_wide));
  args.steps = steps_.data();
  args.pairs = pairs_.data();
  args.wide = wide_.data();
  args.block_pair = block_pair_.data();
  args.states = job.states.transform;
  args.summary = job.states.summary;
  args.report = report_.data();
  if (job.in.is_on_host && job.plan.collects) args.chunk_counts = job.states.chunk_counts;
  args.chunks = job.plan.chunks;
  args.pair_capacity = job.sizes.pair_capacity;
  std::copy_n(job.planes, layout.components, args.plane);
  for (int c = 0; c < layout.components; ++c)
    if (job.planes[c].data == nullptr) args.layout.component[c].blocks_wide = 0;
  return transform_blocks(args, chain_);
}

}  // namespace zerorun
