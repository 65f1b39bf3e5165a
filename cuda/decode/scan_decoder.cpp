// The order of the kernels, and the memory that they share.
// SPDX-License-Identifier: MIT
#include "cuda/decode/scan_decoder.hpp"

#include <algorithm>
#include <utility>

#include "codec/arith/host_device.hpp"
#include "cuda/base/this_device.hpp"

namespace zerorun {

Status ScanStates::take(ScanArgs& scan, cudaStream_t stream) {
  constexpr auto kSummary = static_cast<std::uint32_t>(sizeof(ScanSummary) / sizeof(std::uint64_t));
  const std::uint32_t chunks = scan.plan.chunks, exits = ceil_div(chunks, 2u);
  const std::uint32_t words =
      kSummary + scan.tiles + chunks + exits + ceil_div(scan.blocks, kTransformBlocks);
  // The memory is not clean again until the scan has ended, whatever happens from here on.
  const bool clean = std::exchange(clean_, false);
  if (!clean || words > capacity_) {
    capacity_ = std::max(capacity_, words);
    ZR_TRY(states_.reserve(2 * std::int64_t{capacity_}));
    ZR_CUDA_TRY(cudaMemsetAsync(states_.data(), 0, 2 * capacity_ * sizeof(std::uint64_t), stream));
    old_words_ = 0;
  }
  scan.cleared = states_.data() + turn_ * capacity_;
  scan.cleared_words = std::exchange(old_words_, words);
  turn_ = 1 - turn_;
  std::uint64_t* const states = states_.data() + turn_ * capacity_;
  scan.summary = reinterpret_cast<ScanSummary*>(states);
  scan.tile_states = states + kSummary;
  scan.chunk_counts = scan.tile_states + scan.tiles;
  scan.chunk_exit = reinterpret_cast<std::uint32_t*>(scan.chunk_counts + chunks);
  scan.transform_states = scan.chunk_counts + chunks + exits;
  return Status::ok();
}

namespace {

/// The needs of a scan as far as its header tells them; the sizes follow.
ScanNeeds needs_of(const ScanHeader& scan, const PairCycle& cycle) {
  const auto is_standard = [](const std::optional<HuffmanSpec>& spec) {
    return std::ranges::find(standard_huffman_specs(), spec) != standard_huffman_specs().end();
  };
  ScanNeeds needs{};
  needs.pairs = static_cast<std::uint32_t>(cycle.pairs);
  needs.period = static_cast<std::uint32_t>(cycle.period);
  needs.standard_codes = true;
  for (std::int32_t pair = 0; pair < cycle.pairs; ++pair)
    needs.standard_codes = needs.standard_codes && is_standard(scan.dc[cycle.dc_table[pair]]) &&
                           is_standard(scan.ac[cycle.ac_table[pair]]);
  return needs;
}

/// Places what the kernels of a scan pass on.
std::size_t place_arrays(ScanArgs& a, void* memory) {
  ScratchLayout layout(memory);
  const std::uint64_t pairs = std::uint64_t{a.pair_capacity} + kMostWalkPairs;
  // Words may be copied by fours.
  a.clean = layout.take<std::uint8_t>(std::uint64_t{a.in_bytes} + kCleanPadding + 24);
  a.interval_first = layout.take<std::uint32_t>(std::uint64_t{a.intervals} + 1);
  a.block_pair = layout.take<std::uint32_t>(std::uint64_t{a.blocks} + 1 + kMostWalkPairs);
  a.pairs = layout.take<std::uint16_t>(pairs);
  a.wide = layout.take<std::int16_t>(pairs);
  if (!a.plan.collects)
    a.own = layout.take<OwnSubsequence>(std::uint64_t{a.plan.chunks} * a.plan.chunk_subsequences);
  return layout.bytes();
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
  return report_.reserve(1);
}

bool ScanDecoder::takes(const ScanHeader& scan, std::size_t bytes) const {
  constexpr std::int64_t kMostBlocks = std::int64_t{1} << 28;
  return scan.layout.components <= kMaxComponents && bytes != 0 && bytes <= kMostBytes &&
         scan.layout.blocks() < kMostBlocks &&
         plan_scan(limits_, needs_of(scan, make_pair_cycle(scan.layout)), Strategy::map).fits;
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
  ScanNeeds needs = needs_of(scan, a.cycle);
  needs.bytes = a.in_bytes;
  needs.blocks = a.blocks;
  needs.subsequences = first_subsequence_of(a.intervals, a.in_bytes);
  needs.is_followed = in.is_on_host;
  return {in, stream, probe, needs, a};
}

Status ScanDecoder::reserve(ScanArgs& args, cudaStream_t stream) {
  const std::int64_t before = memory_.capacity();
  ZR_TRY(memory_.reserve(static_cast<std::int64_t>(place_arrays(args, nullptr))));
  // decode_subsequences() reads all subsequences before it knows that the attempt failed, and then
  // some may not have been written.
  const std::int64_t bytes = memory_.capacity();
  if (bytes != before)
    ZR_CUDA_TRY(cudaMemsetAsync(memory_.data(), 0, static_cast<std::size_t>(bytes), stream));
  place_arrays(args, memory_.data());
  args.tables = tables_.data();
  args.steps = steps_.data();
  args.report = report_.data();
  return states_.take(args, stream);
}

Status ScanDecoder::prepare(const ScanHeader& scan, cudaStream_t stream) {
  const PairCycle cycle = make_pair_cycle(scan.layout);
  ScanTablesSource wanted{};
  for (std::int32_t pair = 0; pair < cycle.pairs; ++pair) {
    wanted.codes.of[kDcSide][pair] = *scan.dc[cycle.dc_table[pair]];
    wanted.codes.of[kAcSide][pair] = *scan.ac[cycle.ac_table[pair]];
  }
  for (std::size_t c = 0; c < kMaxComponents; ++c)
    for (std::size_t k = 0; k < kBlockSize; ++k)
      wanted.steps.step[c][k] =
          make_scan_step(scan.quant[c][kNaturalOfZigzag[k]], kNaturalOfZigzag[k]);
  find_usual_pairs(wanted.steps);
  if (source_ == wanted) return Status::ok();
  const bool same_codes = source_ && source_->codes == wanted.codes;
  source_.reset();
  ZR_TRY(make_scan_tables(wanted, same_codes ? 0 : cycle.pairs, tables_.data(), steps_.data(),
                          stream));
  source_ = wanted;
  return Status::ok();
}

Result<ScanResult> ScanDecoder::decode(const ScanHeader& scan, const Input& in,
                                       const PlaneView* planes, cudaStream_t stream,
                                       const StepProbe& probe, const Behind& behind) {
  Job job = make_job(scan, in, planes, stream, probe);
  const StrategyMemory::Shape shape{job.args.blocks, job.args.in_bytes};
  const bool skips_map = exhaustive_only_ || first_strategy(job.needs) == Strategy::exhaustive ||
                         strategies_.skips_map(shape);
  ScanPlan plan = plan_scan(limits_, job.needs, skips_map ? Strategy::exhaustive : Strategy::map);
  if (!plan.fits) plan = plan_scan(limits_, job.needs, Strategy::map);
  const ScanReport& report = *report_.data();
  ZR_TRY(run(job, plan, behind));
  if (plan.strategy == Strategy::map) {
    if (report.faults == 0) {
      strategies_.map_was_tried(shape, /*failed=*/false);
    } else if ((report.faults & kFaultUnsettled) != 0) {
      plan = plan_scan(limits_, job.needs, Strategy::exhaustive);
      if (!plan.fits) return ScanResult{false, 0};
      ZR_TRY(run(job, plan, behind));
      if (report.faults == 0) strategies_.map_was_tried(shape, /*failed=*/true);
    }
  }
  return ScanResult{report.faults == 0 && report.dc_fault == 0, report.consumed_bytes};
}

/// One attempt.
Status ScanDecoder::run(Job& job, const ScanPlan& plan, const Behind& behind) {
  job.args.plan = plan;
  job.args.follows_bus = job.in.is_on_host && plan.collects;
  ZR_TRY(reserve(job.args, job.stream));
  *report_.data() = {};
  ZR_TRY(enqueue(job));
  if (behind) ZR_TRY(behind(job.args));
  ZR_CUDA_TRY(cudaStreamSynchronize(job.stream));
  states_.ended();
  return Status::ok();
}

Status ScanDecoder::enqueue(const Job& job) {
  ZR_TRY(announce(job.probe, "unstuff_scan"));
  ZR_TRY(unstuff_scan(job.args, job.stream));
  ZR_TRY(announce(job.probe, "sync_subsequences"));
  ZR_TRY(sync_subsequences(job.args, job.stream));
  if (!job.args.plan.collects) {
    ZR_TRY(announce(job.probe, "decode_subsequences"));
    ZR_TRY(decode_subsequences(job.args, job.stream));
  }
  ZR_TRY(announce(job.probe, "transform_blocks"));
  ZR_TRY(transform_blocks(job.args, job.stream));
  return announce(job.probe, "");
}

}  // namespace zerorun
