// The order of the fused decoder's kernels, and the memory that they share.
// SPDX-License-Identifier: MIT
#include "cuda/decode/scan_decoder.hpp"

#include <algorithm>

#include "cuda/decode/decode_groups.hpp"
#include "cuda/decode/decode_subsequences.hpp"
#include "cuda/decode/group_walk.hpp"
#include "cuda/decode/subsequence_ends.hpp"
#include "cuda/decode/sync_subsequences.hpp"
#include "cuda/decode/transform_blocks.hpp"
#include "cuda/decode/unstuff_scan.hpp"

namespace zerorun {
namespace {

std::uint32_t ceil_divide(std::uint64_t a, std::uint64_t b) {
  return static_cast<std::uint32_t>((a + b - 1) / b);
}

/// Intervals of fewer subsequences are followed from their beginning, without guesses. (With a
/// restart every four MCUs, seven subsequences, sync_subsequences() takes 86 us without guesses and
/// 58 with them.)
constexpr std::uint32_t kFollowedSubsequences = 4;
/// Subsequences from one that is walked from guesses to the next: with 2 and 4, sync_subsequences()
/// takes 56 and 58 us for a 3840x2160 frame at q90 (H200), with 7.6 and 5.2 walks a subsequence.
constexpr std::uint32_t kGuessStride = 2;
/// So few chunks have a processor each, and room for all ends.
constexpr std::uint32_t kRoomyChunks = 32;

}  // namespace

Status ScanDecoder::create() {
  ZR_TRY(prepare_sync_subsequences());
  ZR_TRY(prepare_decode_subsequences());
  ZR_TRY(prepare_decode_groups());
  ZR_TRY(host_tables_.reserve(2 * kMaxTablePairs));
  ZR_TRY(tables_.reserve(1));
  ZR_TRY(host_steps_.reserve(1));
  ZR_TRY(steps_.reserve(1));
  return report_.reserve(1);
}

bool ScanDecoder::takes(const ScanHeader& scan, std::size_t bytes) {
  return bytes > 0 && bytes <= kMostBytes && scan.layout.blocks() < (std::int64_t{1} << 28);
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
  if (in.index != nullptr)
    sizes.groups = static_cast<std::uint32_t>(index_groups(layout, scan.index->group_mcus));
  else
    sizes.chunks =
        ceil_divide(first_subsequence_of(sizes.intervals, sizes.bytes), kChunkSubsequences);
  // A pair takes two bits at least: a codeword and the level's bits, or for the DC another codeword
  // behind it.
  sizes.pair_capacity = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(std::uint64_t{sizes.bytes} * 4, std::uint64_t{sizes.blocks} * 64));
  sizes.tiles = unstuff_tiles(sizes.bytes, lead);
  sizes.transform_ctas = ceil_divide(sizes.blocks, kTransformBlocks);
  return sizes;
}

Status ScanDecoder::reserve(const Sizes& sizes) {
  // Words may be copied by fours.
  ZR_TRY(clean_.reserve(std::int64_t{sizes.bytes} + kCleanPadding + 24));
  ZR_TRY(interval_first_.reserve(std::int64_t{sizes.intervals} + 1));
  ZR_TRY(starts_.reserve(std::int64_t{sizes.chunks} * kChunkSubsequences));
  ZR_TRY(chunk_first_.reserve(std::int64_t{sizes.chunks} + 1));
  ZR_TRY(chunk_word_.reserve(sizes.chunks));
  ZR_TRY(pairs_.reserve(std::int64_t{sizes.pair_capacity} +
                        (sizes.groups != 0 ? kMostGroupPairs : 0)));
  ZR_TRY(block_pair_.reserve(std::int64_t{sizes.blocks} + 1));
  return group_sums_.reserve(std::int64_t{sizes.groups} + 1);
}

/// Sends the code tables and has the device's made of them, unless they are the last scan's.
Status ScanDecoder::update_tables(const ScanHeader& scan, const PairCycle& cycle,
                                  cudaStream_t stream) {
  const auto count = static_cast<std::size_t>(2 * cycle.pairs);
  const auto spec_of = [&](std::size_t t) -> const HuffmanSpec& {
    return t % 2 == kDcSide ? *scan.dc[cycle.dc_table[t / 2]] : *scan.ac[cycle.ac_table[t / 2]];
  };
  bool same = true;
  for (std::size_t t = 0; t < count; ++t) same = same && specs_[t] == spec_of(t);
  if (same) return Status::ok();
  specs_.fill(std::nullopt);
  // The tables that are on their way may be those of an earlier scan on this stream.
  ZR_CUDA_TRY(cudaStreamSynchronize(stream));
  for (std::size_t t = 0; t < count; ++t) fill_decode_table(spec_of(t), host_tables_.data()[t]);
  for (std::size_t t = 0; t < count; ++t)
    ZR_CUDA_TRY(cudaMemcpyAsync(&tables_.data()->source[t % 2][t / 2], host_tables_.data() + t,
                                sizeof(HuffmanDecodeTable), cudaMemcpyHostToDevice, stream));
  ZR_TRY(make_walk_tables(tables_.data(), cycle.pairs, stream));
  for (std::size_t t = 0; t < count; ++t) specs_[t] = spec_of(t);
  return Status::ok();
}

Status ScanDecoder::update_quant(const ScanHeader& scan, cudaStream_t stream) {
  if (quant_tables_ == scan.quant) return Status::ok();
  quant_tables_.reset();
  ZR_CUDA_TRY(cudaStreamSynchronize(stream));  // the last tables may still be on their way
  for (std::size_t c = 0; c < kMaxComponents; ++c)
    for (std::size_t k = 0; k < kBlockSize; ++k)
      host_steps_.data()->step[c][k] =
          make_scan_step(scan.quant[c][kNaturalOfZigzag[k]], kNaturalOfZigzag[k]);
  ZR_CUDA_TRY(cudaMemcpyAsync(steps_.data(), host_steps_.data(), sizeof(ScanSteps),
                              cudaMemcpyHostToDevice, stream));
  quant_tables_ = scan.quant;
  return Status::ok();
}

Status ScanDecoder::enqueue_subsequences(const Sizes& sizes, const ScanStates::Parts& states,
                                         const PairCycle& cycle, cudaStream_t stream,
                                         const StepProbe& probe) {
  ZR_TRY(announce(probe, "sync_subsequences"));
  const auto* const words = reinterpret_cast<const std::uint32_t*>(clean_.data());
  const bool follows = sizes.bytes / sizes.intervals <= kFollowedSubsequences * kSubsequenceBytes;
  const std::uint32_t guess_stride = follows ? 0 : kGuessStride;
  const bool is_usual = sizes.chunks > kRoomyChunks &&
                        cycle.period <= static_cast<std::int32_t>(kUsualGuesses) &&
                        std::uint64_t{sizes.bytes} * 8 / sizes.blocks <= kUsualBlockBits;
  ZR_TRY(
      sync_subsequences({words, interval_first_.data(), tables_.data(), cycle, sizes.intervals,
                         sizes.blocks, sizes.pair_capacity, sizes.chunks, guess_stride,
                         is_usual ? kUsualEnds : kMostEnds, starts_.data(), chunk_first_.data(),
                         chunk_word_.data(), states.chunk_exit, block_pair_.data(), states.summary},
                        stream));
  ZR_TRY(announce(probe, "decode_subsequences"));
  return decode_subsequences({words, tables_.data(), cycle, sizes.interval_blocks, sizes.blocks,
                              sizes.chunks, starts_.data(), chunk_first_.data(), chunk_word_.data(),
                              pairs_.data(), block_pair_.data(), states.summary},
                             stream);
}

Status ScanDecoder::enqueue_groups(const ScanHeader& scan, const Sizes& sizes,
                                   const ScanStates::Parts& states, const PairCycle& cycle,
                                   cudaStream_t stream, const StepProbe& probe) {
  ZR_TRY(announce(probe, "decode_groups"));
  return decode_groups({reinterpret_cast<const std::uint32_t*>(clean_.data()),
                        interval_first_.data(), group_sums_.data(), tables_.data(), cycle,
                        make_group_grid(scan.layout, scan.index->group_mcus), sizes.pair_capacity,
                        decode_groups_room(sizes.bytes, sizes.groups), pairs_.data(),
                        block_pair_.data(), states.summary},
                       stream);
}

Status ScanDecoder::enqueue(const ScanHeader& scan, const Input& in, const PlaneView* planes,
                            cudaStream_t stream, const StepProbe& probe) {
  const PairCycle cycle = make_pair_cycle(scan.layout);
  const Sizes sizes = sizes_of(scan, in);
  ZR_TRY(reserve(sizes));
  ZR_TRY(update_tables(scan, cycle, stream));
  ZR_TRY(update_quant(scan, stream));
  *report_.data() = {};
  ScanStates::Parts states{};
  ZR_TRY(states_.take({sizes.tiles, sum_tiles(sizes.groups), sizes.chunks, sizes.transform_ctas},
                      stream, states));
  ZR_TRY(announce(probe, "unstuff_scan"));
  ZR_TRY(unstuff_scan({in.data,
                       sizes.bytes,
                       sizes.intervals,
                       clean_.data(),
                       interval_first_.data(),
                       states.tile,
                       states.summary,
                       report_.data(),
                       {in.index, sizes.groups, group_sums_.data(), states.sum_tile},
                       states.transform,
                       states.old_transforms},
                      stream));
  if (in.index != nullptr)
    ZR_TRY(enqueue_groups(scan, sizes, states, cycle, stream, probe));
  else
    ZR_TRY(enqueue_subsequences(sizes, states, cycle, stream, probe));
  ZR_TRY(announce(probe, "transform_blocks"));
  TransformBlocksArgs transform{};
  transform.layout = scan.layout;
  transform.blocks = sizes.blocks;
  transform.by_interval_blocks = KnownDivisor(sizes.interval_blocks);
  transform.by_mcu_blocks = KnownDivisor(static_cast<std::uint32_t>(scan.layout.blocks_per_mcu));
  transform.by_mcus_wide = KnownDivisor(static_cast<std::uint32_t>(scan.layout.mcus_wide));
  transform.steps = steps_.data();
  transform.pairs = pairs_.data();
  transform.block_pair = block_pair_.data();
  transform.states = states.transform;
  transform.summary = states.summary;
  transform.report = report_.data();
  transform.cleared = states.used_early;
  transform.cleared_words = states.used_early_words;
  transform.cleared_summary = states.next_summary;
  std::copy_n(planes, scan.layout.components, transform.plane);
  ZR_TRY(transform_blocks(transform, stream));
  return announce(probe, "");
}

}  // namespace zerorun
