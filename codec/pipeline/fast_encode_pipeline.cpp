// The CPU encode pipeline of the fast stages: slices of the scan on several threads.
// SPDX-License-Identifier: MIT
#include <cstring>
#include <memory>
#include <vector>

#include "codec/base/buffer.hpp"
#include "codec/base/marker.hpp"
#include "codec/encode/byte_stuff.hpp"
#include "codec/fast/color_rows.hpp"
#include "codec/fast/encode_slice.hpp"
#include "codec/pipeline/cpu_choice.hpp"
#include "codec/pipeline/scan_slices.hpp"

namespace zerorun {
namespace {

/// The state of a slice between the steps.
struct SliceState : PartBits {
  // With optimal tables, from the first pass to the second.
  std::vector<std::uint16_t> tokens;
  Buffer<std::uint64_t> first_token;
};

struct Scratch {
  std::unique_ptr<fast::BlockRun> run = std::make_unique<fast::BlockRun>();
  Buffer<std::uint8_t> packed;
  Buffer<std::uint64_t> interval_bytes;
  std::unique_ptr<fast::TokenCounts> counts;
  std::vector<std::uint8_t> rows;
};

class FastEncodePipeline final : public SlicedEncodePipeline<SliceState, Scratch> {
 public:
  FastEncodePipeline(int threads, InstructionSet target)
      : SlicedEncodePipeline(threads, ThreadLimits().blocks),
        kernels_(fast::encode_kernels(target)),
        colors_(fast::color_kernels(target)) {}

 private:
  void convert(const ColorSubsampleArgs& rows, Scratch& scratch) override {
    fast::color_subsample(colors_, rows, scratch.rows);
  }

  void start() override {
    const EncodeSetup& setup = *setup_;
    for (std::size_t t = 0; t < 2; ++t)
      if (quant_table_[t] != setup.quant[t]) {
        quant_table_[t] = setup.quant[t];
        fast::fill_quant_rows(setup.quant[t].data(), quant_[t]);
      }
    coding_ = {&kernels_,
               &layout(),
               planes_.views(),
               quant_,
               setup.tune.active() ? &setup.tune : nullptr,
               {setup.divisors.table[0][0], setup.divisors.table[1][0]}};
  }

  /// Makes the tables when the specifications change.
  const fast::CodeTables& fixed_codes(const std::array<HuffmanSpec, 4>& specs) {
    if (fixed_specs_ != &specs) {
      fast::fill_code_tables(specs, fixed_codes_);
      fixed_specs_ = &specs;
    }
    return fixed_codes_;
  }

  fast::SliceBits reserve_bits(const Slice& slice, Scratch& scratch) {
    const std::int64_t blocks = slice.mcus * layout().blocks_per_mcu;
    return {scratch.packed.reserve(fast::max_slice_bytes(blocks, slice.intervals)),
            scratch.interval_bytes.reserve(slice.intervals)};
  }

  void finish_slice(std::int64_t i, const fast::SliceBits& bits) {
    if (plan_.slices_are_parts()) {
      state(i).packed_bits = bits.bits;
      const std::uint64_t bytes = (bits.bits + 7) / 8;
      std::memcpy(state(i).packed.reserve(static_cast<std::int64_t>(bytes) + 8), bits.bytes,
                  bytes + 8);
      return;
    }
    const Slice slice = plan_[i];
    stuff(bits.bytes, bits.interval_bytes, slice.intervals, slice.first_interval, true, pieces_[i]);
  }

  void count_slices(SymbolCounts& total) override {
    for (Scratch& scratch : scratch_) {
      if (!scratch.counts) scratch.counts = std::make_unique<fast::TokenCounts>();
      *scratch.counts = {};
    }
    for_each_slice([this](std::int64_t i, Scratch& scratch) {
      const Slice slice = plan_[i];
      fast::tokenise_slice(coding_, {slice.first_mcu, slice.mcus}, *scratch.run, state(i).tokens,
                           state(i).first_token.reserve(slice.intervals + 1), *scratch.counts);
    });
    for (const Scratch& scratch : scratch_) fast::add_symbol_counts(*scratch.counts, total);
  }

  void code_slices(const std::array<HuffmanSpec, 4>& specs) override {
    const bool one_pass = !has_optimal_tables();
    fast::CodeTables optimal;
    if (!one_pass) fast::fill_code_tables(specs, optimal);
    const fast::CodeTables& codes = one_pass ? fixed_codes(*setup_->fixed_specs) : optimal;
    for_each_slice([&](std::int64_t i, Scratch& scratch) {
      const Slice slice = plan_[i];
      const fast::SliceRange range{slice.first_mcu, slice.mcus};
      const bool is_part = plan_.slices_are_parts();
      fast::SliceBits out = reserve_bits(slice, scratch);
      if (one_pass)
        fast::code_slice(coding_, range, is_part, codes, *scratch.run, out);
      else
        fast::code_slice_tokens(coding_, range, state(i).tokens.data(), state(i).first_token.data(),
                                is_part, codes, out);
      finish_slice(i, out);
    });
  }

  void store_blocks(const Slice& slice, Scratch& scratch, const StoredBlocks* blocks) override {
    fast::store_slice(coding_, {slice.first_mcu, slice.mcus}, *scratch.run, blocks);
  }

  /// Writes intervals with the markers behind them, but none behind the last of the scan or, if it
  /// is not `whole`, behind the last of these.
  void stuff(const std::uint8_t* bytes, const std::uint64_t* interval_bytes, std::int64_t intervals,
             std::int64_t first_interval, bool whole, Piece& piece) {
    const auto size = static_cast<std::int64_t>(interval_bytes[intervals - 1]);
    std::uint8_t* const begin = piece.bytes.reserve(max_stuffed_bytes(size, intervals) + 64);
    std::uint8_t* out = begin;
    std::uint64_t from = 0;
    for (std::int64_t i = 0; i < intervals; ++i) {
      out = kernels_.stuff(bytes + from, bytes + interval_bytes[i], out);
      from = interval_bytes[i];
      const std::int64_t interval = first_interval + i;
      if (interval + 1 == layout().intervals() || (i + 1 == intervals && !whole)) continue;
      *out++ = 0xFF;
      *out++ = static_cast<std::uint8_t>(marker::kRst0 + interval % 8);
    }
    piece.size = static_cast<std::uint64_t>(out - begin);
  }

  void stuff_part(const std::uint8_t* bytes, std::uint64_t size, const Slice& slice,
                  Piece& piece) override {
    stuff(bytes, &size, 1, slice.first_interval, slice.ends_interval, piece);
  }

  const fast::EncodeKernels& kernels_;
  const fast::ColorKernels& colors_;
  std::array<QuantTable, 2> quant_table_{};
  fast::QuantRows quant_[2];
  fast::FrameCoding coding_{};
  const std::array<HuffmanSpec, 4>* fixed_specs_ = nullptr;  // fixed_codes_ was made of them
  fast::CodeTables fixed_codes_;
};

}  // namespace

std::unique_ptr<EncodePipeline> make_fast_encode_pipeline(int threads, InstructionSet target) {
  return std::make_unique<FastEncodePipeline>(threads, target);
}

}  // namespace zerorun
