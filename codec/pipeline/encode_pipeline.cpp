// The CPU encode pipeline: slices of the scan go through the stages on several threads.
// SPDX-License-Identifier: MIT
#include "codec/pipeline/encode_pipeline.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "codec/base/buffer.hpp"
#include "codec/base/thread_pool.hpp"
#include "codec/encode/bit_joiner.hpp"
#include "codec/pipeline/sliced_encode_pipeline.hpp"
#include "codec/pipeline/stage_table.hpp"

namespace zerorun {
namespace {

struct SliceSymbols {
  Buffer<Symbol> symbols;
  Buffer<std::uint32_t> block_first_symbol;
};

/// What is kept of a slice between the steps.
struct SliceState {
  // With optimal tables, from the first pass to the second.
  SliceSymbols symbols;
  SymbolCounts counts;
  // The bits of a part, until join_parts().
  Buffer<std::uint8_t> packed;
  std::uint64_t packed_bits = 0;
};

/// A worker's memory between the stages.
struct Scratch {
  Buffer<std::int16_t> zz, diff;
  SliceSymbols symbols;  // with one pass: they stay in the cache
  Buffer<std::uint32_t> code;
  Buffer<std::uint8_t> code_bits;
  Buffer<std::uint8_t> packed;
  Buffer<std::uint64_t> interval_first_byte, interval_bits;
  std::vector<std::uint8_t> rows;
};

class CpuEncodePipeline final : public SlicedEncodePipeline<SliceState> {
 public:
  CpuEncodePipeline(int threads, const StageTable& stages)
      : stages_(stages), pool_(threads), scratch_(static_cast<std::size_t>(pool_.workers())) {}

  Status encode_again(const EncodeSetup& setup, const ConstFrameView& /*frame*/,
                      std::array<HuffmanSpec, 4>& specs) override {
    start(setup);
    if (setup.progressive) {
      StoredBlocks* const blocks = reserve_blocks();
      for_each_slice([this, blocks](std::int64_t i, Scratch& scratch) {
        store_blocks(plan_[i], scratch, blocks);
      });
      return code_progressive(&pool_);
    }
    if (setup.huffman == HuffmanTables::optimal) {
      SymbolCounts counts{};
      count_slices(counts);
      for (std::size_t t = 0; t < kEncodeTables; ++t)
        specs[t] = optimal_huffman_spec(counts.count[t]);
    } else {
      specs = *setup.fixed_specs;
    }
    for (int t = 0; t < kEncodeTables; ++t)
      fill_encode_table(specs[static_cast<std::size_t>(t)], t, tables_);

    for_each_slice([this](std::int64_t i, Scratch& scratch) {
      const bool one_pass = setup_->huffman != HuffmanTables::optimal;
      if (one_pass) to_symbols(plan_[i], scratch, scratch.symbols);
      to_bits(i, scratch, one_pass ? scratch.symbols : state(i).symbols);
    });
    if (plan_.slices_are_parts()) join_parts();
    return Status::ok();
  }

 private:
  void load(const EncodeSetup& setup, const ConstFrameView& frame) override {
    setup_ = &setup;
    planes_.make(
        setup, frame, [this](std::int64_t jobs, const auto& job) { pool_.run(jobs, job); },
        [this](const ColorSubsampleArgs& rows, int worker) {
          Exec exec;
          exec.rows = &scratch_[static_cast<std::size_t>(worker)].rows;
          (void)stages_.color_subsample(rows, exec);  // CPU stages cannot fail
        });
  }

  void start(const EncodeSetup& setup) override {
    start_slices(setup);
    pieces_.start(plan_.slices_are_parts() ? layout().intervals() : plan_.count());
  }

  template <typename Job>
  void for_each_slice(const Job& job) {
    pool_.run(plan_.count(), [&](std::int64_t i, int worker) {
      job(i, scratch_[static_cast<std::size_t>(worker)]);
    });
  }

  /// Stage 2. `lead_in`: with the MCU before the slice.
  std::int16_t* to_coefficients(const Slice& slice, bool lead_in, Scratch& scratch) {
    const std::int64_t per_mcu = layout().blocks_per_mcu;
    std::int16_t* const zz = scratch.zz.reserve((slice.mcus + 1) * per_mcu * kBlockSize);
    Exec exec;
    FdctQuantArgs transform{layout(),
                            {},
                            &setup_->divisors,
                            slice.first_mcu - lead_in,
                            slice.mcus + lead_in,
                            zz,
                            setup_->tune.active() ? &setup_->tune : nullptr};
    std::copy_n(planes_.views(), kMaxComponents, transform.plane);
    (void)stages_.fdct_quant(transform, exec);
    return zz + (lead_in ? per_mcu * kBlockSize : 0);
  }

  void store_blocks(const Slice& slice, Scratch& scratch, const StoredBlocks* blocks) {
    const std::int16_t* zz = to_coefficients(slice, false, scratch);
    for (std::int64_t mcu = slice.first_mcu; mcu < slice.first_mcu + slice.mcus; ++mcu)
      for (std::int32_t i = 0; i < layout().blocks_per_mcu; ++i, zz += kBlockSize) {
        std::uint64_t nonzero = 0;
        for (int k = 1; k < kBlockSize; ++k) nonzero |= std::uint64_t{zz[k] != 0} << k;
        store_block(layout(), mcu, i, zz, nonzero, blocks);
      }
  }

  /// Stages 2 to 4.
  void to_symbols(const Slice& slice, Scratch& scratch, SliceSymbols& out) {
    const std::int64_t blocks = slice.mcus * layout().blocks_per_mcu;
    // A slice that starts inside an interval predicts its first DC from the previous MCU.
    const bool lead_in = slice.first_mcu % layout().interval_mcus() != 0;
    std::int16_t* const own_zz = to_coefficients(slice, lead_in, scratch);
    std::int16_t* diff = scratch.diff.reserve(blocks);
    Symbol* symbols = out.symbols.reserve(blocks * kBlockSize);
    std::uint32_t* first = out.block_first_symbol.reserve(blocks + 1);

    Exec exec;
    (void)stages_.dc_diff({layout(), slice.first_mcu, slice.mcus, own_zz, diff}, exec);
    (void)stages_.zero_run({layout(), blocks, own_zz, diff, symbols, first}, exec);
  }

  void count_slice(const Slice& slice, SliceState& state) {
    const std::int64_t blocks = slice.mcus * layout().blocks_per_mcu;
    state.counts = {};
    Exec exec;
    (void)stages_.symbol_histogram(
        {state.symbols.symbols.data(), state.symbols.block_first_symbol.data() + blocks,
         blocks * kBlockSize, &state.counts},
        exec);
  }

  void count_slices(SymbolCounts& total) override {
    for_each_slice([this](std::int64_t i, Scratch& scratch) {
      to_symbols(plan_[i], scratch, state(i).symbols);
      count_slice(plan_[i], state(i));
    });
    for (std::int64_t s = 0; s < plan_.count(); ++s)
      for (int t = 0; t < kEncodeTables; ++t)
        for (int i = 0; i < 256; ++i) total.count[t][i] += state(s).counts.count[t][i];
  }

  /// Stages 5 to 7; a part stops before 7.
  void to_bits(std::int64_t i, Scratch& scratch, const SliceSymbols& in) {
    const Slice slice = plan_[i];
    const bool is_part = plan_.slices_are_parts();
    const std::int64_t blocks = slice.mcus * layout().blocks_per_mcu;
    const std::uint32_t* first = in.block_first_symbol.data();
    const std::int64_t symbols = first[blocks];
    std::uint32_t* code = scratch.code.reserve(symbols);
    std::uint8_t* code_bits = scratch.code_bits.reserve(symbols);
    const std::int64_t interval = is_part ? slice.mcus : layout().interval_mcus();
    auto& packed = is_part ? state(i).packed : scratch.packed;
    // A bound by the number of symbols, 27 bits each.
    const std::int64_t capacity = symbols * 27 / 8 + 2 * slice.intervals + 16;

    Exec exec;
    (void)stages_.huffman_encode(
        {in.symbols.data(), first + blocks, symbols, &tables_, code, code_bits}, exec);
    const BitPackArgs pack{blocks,
                           interval * layout().blocks_per_mcu,
                           first,
                           code,
                           code_bits,
                           packed.reserve(capacity),
                           capacity,
                           scratch.interval_first_byte.reserve(slice.intervals + 1),
                           scratch.interval_bits.reserve(slice.intervals)};
    (void)stages_.bit_pack(pack, exec);
    if (is_part)
      state(i).packed_bits = pack.interval_bits[0];
    else
      stuff(pack.bytes, pack.interval_first_byte, slice.intervals, slice.first_interval,
            pieces_[i]);
  }

  void stuff(const std::uint8_t* bytes, const std::uint64_t* interval_first_byte,
             std::int64_t intervals, std::int64_t first_interval, Piece& piece) {
    const std::int64_t capacity =
        max_stuffed_bytes(static_cast<std::int64_t>(interval_first_byte[intervals]), intervals);
    Exec exec;
    (void)stages_.byte_stuff(
        {bytes, interval_first_byte, intervals, first_interval, layout().intervals(),
         piece.bytes.reserve(capacity), capacity, &piece.size},
        exec);
  }

  void join_parts() {
    pool_.run(layout().intervals(), [&](std::int64_t interval, int worker) {
      const std::int64_t begin = plan_.first_slice(interval), end = plan_.end_slice(interval);
      std::uint64_t bits = 0;
      for (std::int64_t s = begin; s < end; ++s) bits += state(s).packed_bits;
      std::uint8_t* joined = scratch_[static_cast<std::size_t>(worker)].packed.reserve(
          static_cast<std::int64_t>(bits / 8 + 8));
      BitJoiner joiner(joined);
      for (std::int64_t s = begin; s < end; ++s)
        joiner.append(state(s).packed.data(), state(s).packed_bits);
      const std::uint64_t offsets[2] = {0, joiner.finish()};
      stuff(joined, offsets, 1, interval, pieces_[interval]);
    });
  }

  const StageTable& stages_;
  ThreadPool pool_;
  std::vector<Scratch> scratch_;  // one a worker
  HuffmanEncodeTables tables_;
};

}  // namespace

std::unique_ptr<EncodePipeline> make_cpu_encode_pipeline(int threads, const StageTable& stages) {
  return std::make_unique<CpuEncodePipeline>(threads, stages);
}

}  // namespace zerorun
