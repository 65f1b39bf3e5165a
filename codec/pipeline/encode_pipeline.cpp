// How the CPU encode pipelines share out a frame, and the one of the reference stages: slices of
// the scan go through the stages on several threads.
// SPDX-License-Identifier: MIT
#include "codec/pipeline/encode_pipeline.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "codec/base/buffer.hpp"
#include "codec/pipeline/scan_slices.hpp"
#include "codec/pipeline/stage_table.hpp"

namespace zerorun {

SlicePlan::SlicePlan(const ScanLayout& layout)
    : mcus_(layout.mcus()), interval_mcus_(layout.interval_mcus()) {
  if (interval_mcus_ <= kSliceMcus) {
    slice_mcus_ = kSliceMcus / interval_mcus_ * interval_mcus_;
    count_ = ceil_div(mcus_, slice_mcus_);
    return;
  }
  slice_mcus_ = kSliceMcus;
  per_interval_ = ceil_div(interval_mcus_, slice_mcus_);
  const std::int64_t before = (layout.intervals() - 1);
  count_ = before * per_interval_ + ceil_div(mcus_ - before * interval_mcus_, slice_mcus_);
}

Slice SlicePlan::operator[](std::int64_t slice) const {
  if (!slices_are_parts()) {
    const std::int64_t first = slice * slice_mcus_, mcus = std::min(slice_mcus_, mcus_ - first);
    return {first, mcus, first / interval_mcus_, ceil_div(mcus, interval_mcus_), true};
  }
  const std::int64_t interval = slice / per_interval_;
  const std::int64_t end = std::min((interval + 1) * interval_mcus_, mcus_);
  const std::int64_t first = interval * interval_mcus_ + slice % per_interval_ * slice_mcus_;
  const std::int64_t mcus = std::min(slice_mcus_, end - first);
  return {first, mcus, interval, 1, first + mcus == end};
}

void ScanPieces::start(std::int64_t count) {
  count_ = static_cast<std::size_t>(count);
  if (pieces_.size() < count_) pieces_.resize(count_);
}

std::uint64_t ScanPieces::bytes() const {
  std::uint64_t total = 0;
  for (std::size_t p = 0; p < count_; ++p) total += pieces_[p].size;
  return total;
}

void ScanPieces::copy(std::byte* out) const {
  for (std::size_t p = 0; p < count_; ++p) {
    std::memcpy(out, pieces_[p].bytes.data(), pieces_[p].size);
    out += pieces_[p].size;
  }
}

std::optional<ColorSubsampleArgs> ComponentPlanes::make(const EncodeSetup& setup,
                                                        const ConstFrameView& frame) {
  if (setup.planes_are_components) {
    for (int c = 0; c < setup.layout.components; ++c) {
      const auto p = static_cast<std::size_t>(c);
      const auto& component = setup.layout.component[c];
      planes_[c] = {frame.data[p], frame.stride_bytes[p], component.width, component.height};
    }
    return std::nullopt;
  }
  ColorSubsampleArgs args{frame, setup.layout.components, setup.h_max,       setup.v_max, {},
                          0,     8 * setup.v_max,         setup.shapes_noise};
  for (int c = 0; c < args.components; ++c) {
    const auto& component = setup.layout.component[c];
    const std::int32_t stride = plane_stride(component);
    args.plane[c] = {memory_[c].reserve(std::int64_t{stride} * component.height), stride, stride,
                     component.height};
    planes_[c] = {args.plane[c].data, stride, stride, component.height};
  }
  return args;
}

PlaneView ComponentPlanes::make_fitted(int c, ConstPlaneView& from) {
  from = planes_[c];
  planes_[c].data = fitted_[c].reserve(from.stride_bytes * from.height);
  return {fitted_[c].data(), from.stride_bytes, from.width, from.height};
}

namespace {

struct SliceSymbols {
  Buffer<Symbol> symbols;
  Buffer<std::uint32_t> block_first_symbol;
};

/// The state of a slice between the steps.
struct SliceState : PartBits {
  // With optimal tables: kept from the first pass to the second.
  SliceSymbols symbols;
  SymbolCounts counts;
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

class CpuEncodePipeline final : public SlicedEncodePipeline<SliceState, Scratch> {
 public:
  CpuEncodePipeline(int threads, const StageTable& stages)
      : SlicedEncodePipeline(threads, 0), stages_(stages) {}

 private:
  void convert(const ColorSubsampleArgs& rows, Scratch& scratch) override {
    Exec exec;
    exec.rows = &scratch.rows;
    (void)stages_.color_subsample(rows, exec);  // CPU stages cannot fail
  }

  void code_slices(const std::array<HuffmanSpec, 4>& specs) override {
    for (int t = 0; t < kEncodeTables; ++t)
      fill_encode_table(specs[static_cast<std::size_t>(t)], t, tables_);
    for_each_slice([this](std::int64_t i, Scratch& scratch) {
      const bool one_pass = !has_optimal_tables();
      if (one_pass) to_symbols(plan_[i], scratch, scratch.symbols);
      to_bits(i, scratch, one_pass ? scratch.symbols : state(i).symbols);
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

  void store_blocks(const Slice& slice, Scratch& scratch, const StoredBlocks* blocks) override {
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

  void count_slices(SymbolCounts& total) override {
    for_each_slice([this](std::int64_t i, Scratch& scratch) {
      SliceState& slice = state(i);
      const std::int64_t blocks = plan_[i].mcus * layout().blocks_per_mcu;
      to_symbols(plan_[i], scratch, slice.symbols);
      slice.counts = {};
      Exec exec;
      (void)stages_.symbol_histogram(
          {slice.symbols.symbols.data(), slice.symbols.block_first_symbol.data() + blocks,
           blocks * kBlockSize, &slice.counts},
          exec);
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
            layout().intervals(), pieces_[i]);
  }

  /// As byte_stuff; `scan_intervals` 0: no marker follows.
  void stuff(const std::uint8_t* bytes, const std::uint64_t* interval_first_byte,
             std::int64_t intervals, std::int64_t first_interval, std::int64_t scan_intervals,
             Piece& piece) {
    const std::int64_t capacity =
        max_stuffed_bytes(static_cast<std::int64_t>(interval_first_byte[intervals]), intervals);
    Exec exec;
    (void)stages_.byte_stuff({bytes, interval_first_byte, intervals, first_interval, scan_intervals,
                              piece.bytes.reserve(capacity), capacity, &piece.size},
                             exec);
  }

  void stuff_part(const std::uint8_t* bytes, std::uint64_t size, const Slice& slice,
                  Piece& piece) override {
    const std::uint64_t interval[2] = {0, size};
    stuff(bytes, interval, 1, slice.first_interval, slice.ends_interval ? layout().intervals() : 0,
          piece);
  }

  const StageTable& stages_;
  HuffmanEncodeTables tables_;
};

}  // namespace

std::unique_ptr<EncodePipeline> make_cpu_encode_pipeline(int threads, const StageTable& stages) {
  return std::make_unique<CpuEncodePipeline>(threads, stages);
}

}  // namespace zerorun
