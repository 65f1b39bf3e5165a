// The order of the kernels, and the memory that they share.
// SPDX-License-Identifier: MIT
#include "cuda/decode/scan_decoder.hpp"

#include <algorithm>
#include <utility>

#include "codec/arith/integer.hpp"
#include "cuda/base/this_device.hpp"

namespace zerorun {

Status ScanStates::take(ScanArgs& scan, cudaStream_t stream) {
  const std::uint32_t chunks = scan.plan.chunks, exits = ceil_div(chunks, 2u);
  const std::uint32_t words = scan.tiles + chunks + exits + ceil_div(scan.blocks, kTransformBlocks);
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
  scan.summary = summary_.data() + turn_;
  scan.tile_states = states_[turn_].data();
  scan.chunk_counts = scan.tile_states + scan.tiles;
  scan.chunk_exit = reinterpret_cast<std::uint32_t*>(scan.chunk_counts + chunks);
  scan.transform_states = scan.chunk_counts + chunks + exits;
  scan.cleared_summary = summary_.data() + (1 - turn_);
  scan.cleared = states_[1 - turn_].data();
  scan.cleared_words = std::exchange(old_words_, words);
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
  return scan.layout.components <= kMaxComponents && bytes != 0 && bytes <= kMostBytes &&
         scan.layout.blocks() < kMostBlocks &&
         plan_map(limits_, needs_of(make_pair_cycle(scan.layout))).fits;
}

/// Without the plan, and without the memory, which depends on it.
ScanDecoder::Job ScanDecoder::make_job(const ScanHeader& scan, const Input& in,
                                       const PlaneView* planes, cudaStream_t stream,
                                       const StepProbe& probe) {
  const auto number = [](std::int64_t n) { return static_cast<std::uint32_t>(n); };
  const ScanLayout& layout = scan.layout;
  ScanArgs a{};
  a.in = in.data;
  a.in_bytes = static_cast<std::uint32_t>(in.bytes);
  a.lead = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(in.data) % 16);
  a.tiles = ceil_div(a.in_bytes + a.lead, kUnstuffTileBytes);
  a.is_on_host = in.is_on_host;
  a.is_alone = in.is_alone;
  a.layout = layout;
  a.cycle = make_pair_cycle(layout);
  a.intervals = number(layout.intervals());
  a.interval_blocks = number(layout.interval_mcus() * layout.blocks_per_mcu);
  a.blocks = number(layout.blocks());
  a.pair_capacity = static_cast<std::uint32_t>(std::min<std::uint64_t>(
      most_pairs(std::uint64_t{a.in_bytes} * 8), std::uint64_t{a.blocks} * kBlockSize));
  a.by_interval_blocks = KnownDivisor(a.interval_blocks);
  a.by_mcu_blocks = KnownDivisor(number(layout.blocks_per_mcu));
  a.by_mcus_wide = KnownDivisor(number(layout.mcus_wide));
  std::copy_n(planes, layout.components, a.plane);
  for (int c = 0; c < layout.components; ++c)
    if (planes[c].data == nullptr) a.layout.component[c].blocks_wide = 0;
  ScanNeeds needs = needs_of(a.cycle);
  needs.bytes = a.in_bytes;
  needs.blocks = a.blocks;
  needs.subsequences = first_subsequence_of(a.intervals, a.in_bytes);
  needs.is_followed = in.is_on_host;
  needs.standard_codes = has_standard_codes(scan, a.cycle);
  return {in, stream, probe, needs, a};
}

Status ScanDecoder::reserve(ScanArgs& args, cudaStream_t stream) {
  // Words may be copied by fours.
  ZR_TRY(clean_.reserve(std::int64_t{args.in_bytes} + kCleanPadding + 24));
  ZR_TRY(interval_first_.reserve(std::int64_t{args.intervals} + 1));
  if (!args.plan.collects) {
    // Zero at first: decode_subsequences() reads all of them before it knows that the attempt
    // failed, and then some may not have been written.
    const std::int64_t before = own_.capacity();
    ZR_TRY(own_.reserve(std::int64_t{args.plan.chunks} * args.plan.chunk_subsequences));
    const auto bytes = static_cast<std::size_t>(own_.capacity()) * sizeof(OwnSubsequence);
    if (own_.capacity() != before) ZR_CUDA_TRY(cudaMemsetAsync(own_.data(), 0, bytes, stream));
  }
  const std::int64_t pairs = std::int64_t{args.pair_capacity} + kMostWalkPairs;
  ZR_TRY(pairs_.reserve(pairs));
  ZR_TRY(wide_.reserve(pairs));
  ZR_TRY(block_pair_.reserve(std::int64_t{args.blocks} + 1 + kMostWalkPairs));
  args.tables = tables_.data();
  args.steps = steps_.data();
  args.clean = clean_.data();
  args.interval_first = interval_first_.data();
  args.own = own_.data();
  args.pairs = pairs_.data();
  args.wide = wide_.data();
  args.block_pair = block_pair_.data();
  args.report = report_.data();
  return states_.take(args, stream);
}

/// Takes the scan's codes. Returns whether they are those that tables_ were made of.
bool ScanDecoder::take_codes(const ScanHeader& scan, const PairCycle& cycle) {
  bool same = cycle.pairs <= code_pairs_;
  const auto update = [&same](HuffmanSpec& known, const HuffmanSpec& spec) {
    same = same && known == spec;
    known = spec;
  };
  for (std::int32_t pair = 0; pair < cycle.pairs; ++pair) {
    update(source_.codes.of[kDcSide][pair], *scan.dc[cycle.dc_table[pair]]);
    update(source_.codes.of[kAcSide][pair], *scan.ac[cycle.ac_table[pair]]);
  }
  return same;
}

/// Takes the scan's quantisers. Returns whether they are those that steps_ were made of.
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
  const PairCycle cycle = make_pair_cycle(scan.layout);
  const bool same_codes = take_codes(scan, cycle);
  if (take_quantisers(scan) && same_codes) return Status::ok();
  const std::int32_t pairs = std::exchange(code_pairs_, 0);
  quant_tables_.reset();
  ZR_TRY(make_scan_tables(source_, same_codes ? 0 : cycle.pairs, tables_.data(), steps_.data(),
                          stream));
  code_pairs_ = same_codes ? pairs : cycle.pairs;
  quant_tables_ = scan.quant;
  return Status::ok();
}

Result<ScanResult> ScanDecoder::decode(const ScanHeader& scan, const Input& in,
                                       const PlaneView* planes, cudaStream_t stream,
                                       const StepProbe& probe, const Behind& behind) {
  Job job = make_job(scan, in, planes, stream, probe);
  const StrategyMemory::Shape shape{job.args.blocks, job.args.in_bytes};
  ScanPlan plan = plan_scan(limits_, job.needs, choose_strategy(job.needs, shape));
  if (!plan.fits) plan = plan_map(limits_, job.needs);
  const ScanReport& report = *report_.data();
  ZR_TRY(run(job, plan, behind));
  if (plan.strategy == Strategy::map) {
    if (report.faults == 0) {
      memory_.map_was_tried(shape, /*failed=*/false);
    } else if ((report.faults & kFaultUnsettled) != 0) {
      plan = plan_exhaustive(limits_, job.needs);
      if (!plan.fits) return ScanResult{false, 0};
      ZR_TRY(run(job, plan, behind));
      if (report.faults == 0) memory_.map_was_tried(shape, /*failed=*/true);
    }
  }
  return ScanResult{report.faults == 0 && report.dc_fault == 0, report.consumed_bytes};
}

Strategy ScanDecoder::choose_strategy(const ScanNeeds& needs, const StrategyMemory::Shape& shape) {
  if (exhaustive_only_) return Strategy::exhaustive;
  const Strategy first = first_strategy(needs);
  return first == Strategy::map && memory_.skips_map(shape) ? Strategy::exhaustive : first;
}

/// One attempt.
Status ScanDecoder::run(Job& job, const ScanPlan& plan, const Behind& behind) {
  job.args.plan = plan;
  job.args.follows_bus = job.in.is_on_host && plan.collects;
  ZR_TRY(reserve(job.args, job.stream));
  *report_.data() = {};
  ZR_TRY(enqueue(job));
  if (behind) ZR_TRY(behind(&job.args.summary->outcome));
  if (job.in.is_alone)
    ZR_TRY(end_.wait(job.stream));
  else
    ZR_CUDA_TRY(cudaStreamSynchronize(job.stream));
  states_.ended();
  return Status::ok();
}

Status ScanDecoder::enqueue(const Job& job) {
  // A graph begins some microseconds later than a kernel, which counts only where a scan is alone.
  // Beside others 640x480, one of sixteen, takes 6.2 us so and 7.1 by single launches; 1920x1080
  // takes 15.4 and 15.5 (H200).
  chain_.begin(job.stream, !job.in.is_alone && !job.in.is_timed);
  ZR_TRY(announce(job.probe, "unstuff_scan"));
  ZR_TRY(unstuff_scan(job.args, chain_));
  ZR_TRY(announce(job.probe, "sync_subsequences"));
  ZR_TRY(sync_subsequences(job.args, chain_));
  if (!job.args.plan.collects) {
    ZR_TRY(announce(job.probe, "decode_subsequences"));
    ZR_TRY(decode_subsequences(job.args, chain_));
  }
  ZR_TRY(announce(job.probe, "transform_blocks"));
  ZR_TRY(transform_blocks(job.args, chain_));
  ZR_CUDA_TRY(chain_.launch());
  return announce(job.probe, "");
}

}  // namespace zerorun
