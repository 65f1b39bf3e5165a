// The CPU encode pipeline: slices of the scan go through the stages on several threads.
// SPDX-License-Identifier: MIT
#include "codec/pipeline/encode_pipeline.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "codec/base/buffer.hpp"
#include "codec/base/thread_pool.hpp"
#include "codec/encode/bit_joiner.hpp"
#include "codec/pipeline/stage_table.hpp"

namespace zerorun {
namespace {

/// So many MCUs that a slice's blocks and symbols fit in a second-level cache of 256 KiB.
constexpr std::int64_t kSliceMcus = 256;
static_assert(kSliceMcus % (1 << kMaxIndexGroupLog2) == 0, "a slice has whole groups of the index");

struct SliceSymbols {
  Buffer<Symbol> symbols;
  Buffer<std::uint32_t> block_first_symbol;
};

/// The MCUs that one call of each stage codes: whole restart intervals, or a part of one.
struct Slice {
  std::int64_t first_mcu = 0, mcu_count = 0;
  // With optimal tables, kept from the first pass to the second.
  SliceSymbols symbols;
  SymbolCounts counts;
  // The bits of a part, until join_parts().
  Buffer<std::uint8_t> packed;
  std::uint64_t packed_bits = 0;
};

/// A finished piece of the entropy-coded segment.
struct Piece {
  Buffer<std::uint8_t> bytes;
  std::uint64_t size = 0;
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

class CpuEncodePipeline final : public EncodePipeline {
 public:
  CpuEncodePipeline(int threads, const StageTable& stages)
      : stages_(stages), pool_(threads), scratch_(static_cast<std::size_t>(pool_.workers())) {}

  Status encode_scan(const EncodeSetup& setup, const ConstFrameView& frame,
                     std::array<HuffmanSpec, 4>& specs) override {
    setup_ = &setup;
    cut_slices();
    reserve_index();
    make_planes(frame);
    if (setup.huffman == HuffmanTables::optimal) {
      for_each_slice([this](Slice& slice, Scratch& scratch) {
        to_symbols(slice, scratch, slice.symbols);
        count_symbols(slice);
      });
      build_optimal_specs(specs);
    } else {
      for (int t = 0; t < kEncodeTables; ++t)
        specs[static_cast<std::size_t>(t)] = standard_huffman_spec(t);
    }
    for (int t = 0; t < kEncodeTables; ++t)
      fill_encode_table(specs[static_cast<std::size_t>(t)], t, tables_);

    for_each_slice([this](Slice& slice, Scratch& scratch) {
      const bool one_pass = setup_->huffman == HuffmanTables::standard;
      if (one_pass) to_symbols(slice, scratch, scratch.symbols);
      to_bits(slice, scratch, one_pass ? scratch.symbols : slice.symbols);
    });
    if (parts_) join_parts();
    return Status::ok();
  }

  std::uint64_t scan_bytes() const override {
    std::uint64_t total = 0;
    for (std::size_t p = 0; p < piece_count_; ++p) total += pieces_[p].size;
    return total;
  }

  Status copy_scan(std::byte* out) const override {
    for (std::size_t p = 0; p < piece_count_; ++p) {
      std::memcpy(out, pieces_[p].bytes.data(), pieces_[p].size);
      out += pieces_[p].size;
    }
    return Status::ok();
  }

  std::span<const IndexEntry> index() const override { return index_; }

 private:
  const ScanLayout& layout() const { return setup_->layout; }

  /// A slice is several short intervals, or a part of a long one.
  void cut_slices() {
    const std::int64_t mcus = layout().mcus(), interval = layout().interval_mcus();
    parts_ = interval > kSliceMcus;
    const std::int64_t per_slice =
        parts_ ? kSliceMcus : std::max<std::int64_t>(1, kSliceMcus / interval) * interval;
    slice_count_ = 0;
    for (std::int64_t start = 0; start < mcus; start += parts_ ? interval : mcus) {
      const std::int64_t end = parts_ ? std::min(start + interval, mcus) : mcus;
      for (std::int64_t m = start; m < end; m += per_slice) {
        if (slice_count_ == slices_.size()) slices_.emplace_back();
        slices_[slice_count_].first_mcu = m;
        slices_[slice_count_].mcu_count = std::min(per_slice, end - m);
        ++slice_count_;
      }
    }
    piece_count_ = parts_ ? static_cast<std::size_t>(layout().intervals()) : slice_count_;
    if (pieces_.size() < piece_count_) pieces_.resize(piece_count_);
  }

  void reserve_index() {
    const int group = setup_->index_group_mcus;
    const std::int64_t groups = group == 0 ? 0 : index_groups(layout(), group);
    index_ = {index_memory_.reserve(groups), static_cast<std::size_t>(groups)};
  }

  template <typename Job>
  void for_each_slice(const Job& job) {
    pool_.run(static_cast<std::int64_t>(slice_count_), [&](std::int64_t i, int worker) {
      job(slices_[static_cast<std::size_t>(i)], scratch_[static_cast<std::size_t>(worker)]);
    });
  }

  void make_planes(const ConstFrameView& frame) {
    if (setup_->planes_are_components) {
      for (int c = 0; c < layout().components; ++c) {
        const auto p = static_cast<std::size_t>(c);
        planes_[c] = {frame.data[p], frame.stride_bytes[p], layout().component[c].width,
                      layout().component[c].height};
      }
      return;
    }
    ColorSubsampleArgs args{frame, layout().components, setup_->h_max, setup_->v_max, {}, 0, 0};
    for (int c = 0; c < layout().components; ++c) {
      const auto& component = layout().component[c];
      const std::int32_t stride = plane_stride(component);
      args.plane[c] = {plane_memory_[c].reserve(std::int64_t{stride} * component.height), stride,
                       stride, component.height};
      planes_[c] = {args.plane[c].data, stride, stride, component.height};
    }
    args.row_count = 8 * setup_->v_max;
    pool_.run(layout().mcus_high, [&](std::int64_t mcu_row, int worker) {
      ColorSubsampleArgs rows = args;
      rows.first_row = static_cast<std::int32_t>(mcu_row) * args.row_count;
      Exec exec;
      exec.rows = &scratch_[static_cast<std::size_t>(worker)].rows;
      (void)stages_.color_subsample(rows, exec);  // CPU stages cannot fail
    });
  }

  /// Stages 2 to 4.
  void to_symbols(const Slice& slice, Scratch& scratch, SliceSymbols& out) {
    const std::int64_t per_mcu = layout().blocks_per_mcu;
    const std::int64_t blocks = slice.mcu_count * per_mcu;
    // A slice that starts inside an interval predicts its first DC from the previous MCU.
    const bool lead_in = slice.first_mcu % layout().interval_mcus() != 0;
    std::int16_t* zz = scratch.zz.reserve((blocks + per_mcu) * kBlockSize);
    std::int16_t* own_zz = zz + (lead_in ? per_mcu * kBlockSize : 0);
    std::int16_t* diff = scratch.diff.reserve(blocks);
    Symbol* symbols = out.symbols.reserve(blocks * kBlockSize);
    std::uint32_t* first = out.block_first_symbol.reserve(blocks + 1);

    Exec exec;
    FdctQuantArgs transform{
        layout(), {}, &setup_->divisors, slice.first_mcu - lead_in, slice.mcu_count + lead_in, zz};
    std::copy_n(planes_, kMaxComponents, transform.plane);
    (void)stages_.fdct_quant(transform, exec);
    (void)stages_.dc_diff({layout(), slice.first_mcu, slice.mcu_count, own_zz, diff}, exec);
    (void)stages_.zero_run({layout(), blocks, own_zz, diff, symbols, first}, exec);
  }

  void count_symbols(Slice& slice) {
    const std::int64_t blocks = slice.mcu_count * layout().blocks_per_mcu;
    slice.counts = {};
    Exec exec;
    (void)stages_.symbol_histogram(
        {slice.symbols.symbols.data(), slice.symbols.block_first_symbol.data() + blocks,
         blocks * kBlockSize, &slice.counts},
        exec);
  }

  void build_optimal_specs(std::array<HuffmanSpec, 4>& specs) {
    SymbolCounts total{};
    for (std::size_t s = 0; s < slice_count_; ++s)
      for (int t = 0; t < kEncodeTables; ++t)
        for (int i = 0; i < 256; ++i) total.count[t][i] += slices_[s].counts.count[t][i];
    for (int t = 0; t < kEncodeTables; ++t)
      specs[static_cast<std::size_t>(t)] = optimal_huffman_spec(total.count[t]);
  }

  /// Stages 5 to 7; a part stops before 7.
  void to_bits(Slice& slice, Scratch& scratch, const SliceSymbols& in) {
    const std::int64_t blocks = slice.mcu_count * layout().blocks_per_mcu;
    const std::uint32_t* first = in.block_first_symbol.data();
    const std::int64_t symbols = first[blocks];
    std::uint32_t* code = scratch.code.reserve(symbols);
    std::uint8_t* code_bits = scratch.code_bits.reserve(symbols);
    const std::int64_t interval = parts_ ? slice.mcu_count : layout().interval_mcus();
    const std::int64_t intervals = ceil_div(slice.mcu_count, interval);
    auto& packed = parts_ ? slice.packed : scratch.packed;
    // A bound by the number of symbols, 27 bits each.
    const std::int64_t capacity = symbols * 27 / 8 + 2 * intervals + 16;

    Exec exec;
    (void)stages_.huffman_encode(
        {in.symbols.data(), first + blocks, symbols, &tables_, code, code_bits}, exec);
    if (!index_.empty()) sum_groups(slice, in, code_bits, exec);
    const BitPackArgs pack{blocks,
                           interval * layout().blocks_per_mcu,
                           first,
                           code,
                           code_bits,
                           packed.reserve(capacity),
                           capacity,
                           scratch.interval_first_byte.reserve(intervals + 1),
                           scratch.interval_bits.reserve(intervals)};
    (void)stages_.bit_pack(pack, exec);
    if (parts_) {
      slice.packed_bits = pack.interval_bits[0];
      return;
    }
    stuff(pack.bytes, pack.interval_first_byte, intervals, slice.first_mcu / interval,
          pieces_[static_cast<std::size_t>(&slice - slices_.data())]);
  }

  /// A slice starts with a group; the groups of earlier intervals and of its own precede it.
  void sum_groups(const Slice& slice, const SliceSymbols& in, const std::uint8_t* code_bits,
                  Exec& exec) {
    const std::int64_t interval = layout().interval_mcus(), group = setup_->index_group_mcus;
    const std::int64_t first_group =
        slice.first_mcu / interval * ceil_div(interval, group) + slice.first_mcu % interval / group;
    const std::int64_t per_mcu = layout().blocks_per_mcu;
    (void)stages_.group_index(
        {slice.mcu_count * per_mcu, interval * per_mcu, group * per_mcu, in.symbols.data(),
         in.block_first_symbol.data(), code_bits, index_.data() + first_group},
        exec);
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
    const std::int64_t interval = layout().interval_mcus();
    const std::int64_t parts = ceil_div(interval, kSliceMcus);
    pool_.run(layout().intervals(), [&](std::int64_t i, int worker) {
      const auto begin = static_cast<std::size_t>(i * parts);
      const auto end = std::min(begin + static_cast<std::size_t>(parts), slice_count_);
      std::uint64_t bits = 0;
      for (std::size_t s = begin; s < end; ++s) bits += slices_[s].packed_bits;
      std::uint8_t* joined = scratch_[static_cast<std::size_t>(worker)].packed.reserve(
          static_cast<std::int64_t>(bits / 8 + 8));
      BitJoiner joiner(joined);
      for (std::size_t s = begin; s < end; ++s)
        joiner.append(slices_[s].packed.data(), slices_[s].packed_bits);
      const std::uint64_t offsets[2] = {0, joiner.finish()};
      stuff(joined, offsets, 1, i, pieces_[static_cast<std::size_t>(i)]);
    });
  }

  const StageTable& stages_;
  ThreadPool pool_;
  std::vector<Scratch> scratch_;  // one a worker
  const EncodeSetup* setup_ = nullptr;
  bool parts_ = false;  // slices are parts of intervals
  std::vector<Slice> slices_;
  std::size_t slice_count_ = 0;
  std::vector<Piece> pieces_;  // one a slice, or one an interval if slices are parts
  std::size_t piece_count_ = 0;
  Buffer<IndexEntry> index_memory_;
  std::span<IndexEntry> index_;
  Buffer<std::uint8_t> plane_memory_[kMaxComponents];
  ConstPlaneView planes_[kMaxComponents];
  HuffmanEncodeTables tables_;
};

}  // namespace

std::unique_ptr<EncodePipeline> make_cpu_encode_pipeline(int threads, const StageTable& stages) {
  return std::make_unique<CpuEncodePipeline>(threads, stages);
}

}  // namespace zerorun
