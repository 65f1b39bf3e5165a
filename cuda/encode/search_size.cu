// The search for a setting. All CTAs run the same plan on the same numbers: they meet once for each
// setting whose symbols are counted, and no CTA waits for the host.
// SPDX-License-Identifier: MIT
#include "cuda/encode/frame_kernels.hpp"

#include <cooperative_groups.h>

#include "codec/syntax/header_bytes.hpp"
#include "cuda/base/device_limits.hpp"
#include "cuda/base/launch.hpp"
#include "cuda/encode/list_items.cuh"

namespace zerorun {
namespace cuda_encode {
namespace {

static_assert(std::is_trivially_copyable_v<SizeState> && sizeof(SizeState) % 8 == 0);
static_assert(kThreads == 2 * kBlockSize, "a thread for each entry of two tables");

struct SearchShared {
  SizeState state;
  SizeCurve curve;
  SymbolSums sums[kEncodeTables];
};

template <typename T>
__device__ void copy_words(T* to, const T* from) {
  static_assert(sizeof(T) % 4 == 0);
  for (unsigned i = threadIdx.x; i < sizeof(T) / 4; i += kThreads)
    reinterpret_cast<std::uint32_t*>(to)[i] = reinterpret_cast<const std::uint32_t*>(from)[i];
}

/// Puts the tables of a setting into shared memory.
__device__ void set_tables(const SizeTables& tables, const SizeSetting& setting, Shared& s) {
  TuneRules& rules = shared_rules();
  const int t = static_cast<int>(threadIdx.x) / kBlockSize,
            i = static_cast<int>(threadIdx.x) % kBlockSize;
  const int q = tables.quant_of(setting, t, i);
  s.reciprocals.at(t, i % kBlockEdge, i / kBlockEdge) = tables.reciprocal[q];
  set_step(rules.table[t], kZigzagPosition.of[i], static_cast<std::uint32_t>(q));
  // A warp has half of a table.
  const int q_of_other_half = tables.quant_of(setting, t, (i + kBlockSize / 2) % kBlockSize);
  const auto least = warp_min(static_cast<std::uint32_t>(min(q, q_of_other_half)));
  if (i == 0) set_least_step(rules.table[t], rules.overshoots, least);
  if (threadIdx.x == 0) tables.weights.set(setting.thrift, rules);
}

/// Counts the symbols of the CTA's tiles in s.count.
__device__ void count_tiles_of_cta(const CodeTilesArgs& a, Shared& s) {
  WarpShared& w = s.of_warp[warp_index()];
  for (std::uint32_t first = blockIdx.x * kWarps; first < a.grid.tiles;
       first += gridDim.x * kWarps) {
    const std::uint32_t number = first + static_cast<unsigned>(warp_index());
    const Lane lane(a, number);
    Coefficients c;
    const Coded b = transform_rows_of_tile<false, true>(a, s, lane, &shared_rules(), c);
    __syncthreads();  // sums of the tiles before
    if (number < a.grid.tiles) count_tile<true>(s, w, b, c);
    __syncthreads();
  }
}

/// Sums over all symbols, to shared.sums. A warp has a table to itself, so that no warp waits for
/// another one.
__device__ void sum_counts(const SearchSizeArgs& a, const SymbolCounts& counts,
                           const SizeSetting& setting, SearchShared& shared) {
  static_assert(kWarps == kEncodeTables);
  const HuffmanEncodeTables& codes = a.tables->codes[a.tables->band_of(setting)];
  constexpr int kTurns = 256 / 32;
  const int table = warp_index();
  std::uint32_t own[kTurns], code_bits[kTurns];
#pragma unroll
  for (int turn = 0; turn < kTurns; ++turn) {
    const int symbol = turn * 32 + lane_index();
    own[turn] = __ldcg(&counts.count[table][symbol]);
    code_bits[turn] = a.is_optimal ? 0 : codes.bits[table][symbol];
  }
  SymbolSums sums{};
#pragma unroll
  for (int turn = 0; turn < kTurns; ++turn)
    sums.add(turn * 32 + lane_index(), own[turn], code_bits[turn]);
  sums.bits = warp_sum(sums.bits);
  if (a.is_optimal) {
    sums.symbols = warp_sum(sums.symbols);
    sums.spread = warp_sum(sums.spread);
    sums.kinds = warp_add(sums.kinds);
  }
  if (lane_index() == 0) shared.sums[table] = sums;
}

/// Counts what the plan asks for; by all CTAs together.
__device__ void count(const SearchSizeArgs& a, Shared& s, SearchShared& shared) {
  const SizeSetting setting = shared.state.plan.setting();
  // One of three: the last one may still be read, and the next one is cleared.
  const std::uint32_t slot = shared.state.slot, next = slot == 2 ? 0 : slot + 1;
  set_tables(*a.tables, setting, s);
  clear_counts(s);
  __syncthreads();
  count_tiles_of_cta(a.counted, s);
  add_counts(s, a.counts + slot);
  if (blockIdx.x == 0)
    for (int table = 0; table < kEncodeTables; ++table)
      for (unsigned i = threadIdx.x; i < 256; i += kThreads) a.counts[next].count[table][i] = 0;
  cooperative_groups::this_grid().sync();
  sum_counts(a, a.counts[slot], setting, shared);
  __syncthreads();
  if (threadIdx.x == 0) {
    shared.state.plan.add_count(counted_size(shared.sums, a.is_optimal), shared.curve);
    shared.state.slot = next;
  }
  __syncthreads();
}

/// Makes what the coding needs; by one CTA.
__device__ void prepare_coding(const SearchSizeArgs& a, const SizeSetting& setting, Shared& s) {
  set_tables(*a.tables, setting, s);
  __syncthreads();
  copy_words(a.reciprocals, &s.reciprocals);
  copy_words(a.tune, &shared_rules());
  if (a.specs != nullptr) {
    const std::uint32_t band = a.tables->band_of(setting);
    const auto* const from = reinterpret_cast<const std::uint8_t*>(a.tables->specs[band]);
    for (unsigned i = threadIdx.x; i < sizeof a.tables->specs[band]; i += kThreads)
      reinterpret_cast<std::uint8_t*>(a.specs)[i] = from[i];
    copy_words(a.codes, &a.tables->codes[band]);
  }
  const unsigned t = threadIdx.x / kBlockSize, k = threadIdx.x % kBlockSize;
  for (std::uint8_t* const header : a.header) {
    if (header == nullptr) continue;
    if (t < a.tables_in_header)
      header[a.dqt_at[t] + k] = static_cast<std::uint8_t>(shared_rules().table[t].step[k]);
    if (threadIdx.x == 0 && a.note_at != 0)
      put_setting(header + a.note_at, setting.quality_16ths, setting.thrift);
  }
}

__global__ void __launch_bounds__(kThreads, bounded_ctas(kSearchSizeCtas, kThreads, sizeof(Shared)))
    search_size_kernel(const __grid_constant__ SearchSizeArgs a) {
  __shared__ Shared s;
  __shared__ SearchShared shared;
  if (!a.starts && a.before->plan.step() == SizePlan::Step::done) {
    if (blockIdx.x == 0) copy_words(a.after, a.before);
    return;  // *a.skip is 1, and the results are stored
  }
  copy_words(&shared.state, a.before);
  copy_words(&shared.curve, &a.tables->curve);
  copy_words(&shared_rules(), &a.tables->rules);
  __syncthreads();
  SizePlan& plan = shared.state.plan;
  if (threadIdx.x == 0) {
    if (a.starts)
      plan.start(a.tables->task, shared.curve);
    else if (plan.step() == SizePlan::Step::code)
      plan.add_code(*a.coded, shared.curve);
  }
  __syncthreads();
#pragma unroll 1
  while (plan.step() == SizePlan::Step::count) count(a, s, shared);
  if (blockIdx.x != 0) return;
  const bool codes = plan.step() == SizePlan::Step::code;
  if (codes) prepare_coding(a, plan.setting(), s);
  copy_words(a.after, &shared.state);
  if (threadIdx.x != 0) return;
  *a.skip = codes ? 0 : 1;
  if (codes) return;
  const bool is_reached = plan.is_reached();
  *a.size = is_reached ? plan.bytes() : 0;
  if (a.outcome != nullptr)
    *a.outcome = {plan.setting(), plan.bytes(), plan.codings(), is_reached ? 1u : 0u};
}

}  // namespace
}  // namespace cuda_encode

Status search_size(const SearchSizeArgs& args, cudaStream_t stream) {
  using namespace cuda_encode;
  const std::uint32_t work = ceil_div(args.counted.grid.tiles, std::uint32_t{kWarps});
  unsigned grid = 0;
  ZR_CUDA_TRY(persistent_grid(search_size_kernel, kThreads, 0, work, grid));
  return ZR_CUDA_STATUS(
      launch_together(search_size_kernel, LaunchShape{grid, kThreads}, stream, args));
}

}  // namespace zerorun
