// The CPU encode pipeline of the fast stages: slices of the scan on several threads.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "codec/base/buffer.hpp"
#include "codec/base/thread_pool.hpp"
#include "codec/fast/color_rows.hpp"
#include "codec/fast/encode_slice.hpp"
#include "codec/pipeline/cpu_choice.hpp"
#include "codec/pipeline/stage_table.hpp"
#include "codec/syntax/marker.hpp"

namespace zerorun {
namespace {

/// MCUs of a slice: enough that threads seldom meet.
constexpr std::int64_t kSliceMcus = 256;
/// Pictures of fewer MCUs are coded by one thread: waking another takes longer.
constexpr std::int64_t kThreadedMcus = 400;

struct Slice {
  fast::SliceRange range;
  Buffer<std::uint8_t> packed;  // a part's bits, waiting to be joined
  std::uint64_t packed_bits = 0;
  // Kept from the first pass to the second when the tables are built in between.
  Buffer<std::uint16_t> tokens;
  Buffer<std::uint64_t> first_token;
};

/// A finished piece of the entropy-coded segment.
struct Piece {
  Buffer<std::uint8_t> bytes;
  std::uint64_t size = 0;
};

struct Scratch {
  std::unique_ptr<fast::BlockRun> run = std::make_unique<fast::BlockRun>();
  Buffer<std::uint8_t> packed;
  Buffer<std::uint64_t> interval_bytes;
  Buffer<std::uint16_t> tokens;
  std::unique_ptr<fast::TokenCounts> counts;
  std::vector<std::uint8_t> rows;
};

class FastEncodePipeline final : public EncodePipeline {
 public:
  FastEncodePipeline(int threads, CpuTarget target)
      : threads_(threads),
        kernels_(fast::encode_kernels(target)),
        colors_(fast::color_kernels(target)),
        pool_(threads),
        scratch_(static_cast<std::size_t>(pool_.workers())) {}

  Status encode_scan(const EncodeSetup& setup, const ConstFrameView& frame,
                     std::array<HuffmanSpec, 4>& specs) override {
    if (setup.index_group_mcus != 0) {
      if (!reference_) reference_ = make_cpu_encode_pipeline(threads_, cpu_stages());
      by_reference_ = true;
      return reference_->encode_scan(setup, frame, specs);
    }
    by_reference_ = false;
    setup_ = &setup;
    cut_slices();
    make_planes(frame);
    for (std::size_t t = 0; t < 2; ++t)
      if (quant_table_[t] != setup.quant[t]) {
        quant_table_[t] = setup.quant[t];
        fast::fill_quant_rows(setup.quant[t].data(), quant_[t]);
      }
    coding_ = {&kernels_, &layout(), planes_, quant_};
    if (setup.huffman == HuffmanTables::optimal) {
      code_with_optimal_tables(specs);
    } else {
      for (int t = 0; t < kEncodeTables; ++t)
        specs[static_cast<std::size_t>(t)] = standard_huffman_spec(t);
      for_each_slice([this](Slice& slice, Scratch& scratch) {
        fast::SliceBits out = reserve_bits(slice, scratch);
        fast::code_slice(coding_, slice.range, parts_, fast::standard_code_tables(), *scratch.run,
                         out);
        finish_slice(slice, out);
      });
    }
    if (parts_) join_parts();
    return Status::ok();
  }

  std::uint64_t scan_bytes() const override {
    if (by_reference_) return reference_->scan_bytes();
    std::uint64_t total = 0;
    for (std::size_t p = 0; p < piece_count_; ++p) total += pieces_[p].size;
    return total;
  }

  Status copy_scan(std::byte* out) const override {
    if (by_reference_) return reference_->copy_scan(out);
    for (std::size_t p = 0; p < piece_count_; ++p) {
      std::memcpy(out, pieces_[p].bytes.data(), pieces_[p].size);
      out += pieces_[p].size;
    }
    return Status::ok();
  }

  std::span<const IndexEntry> index() const override {
    return by_reference_ ? reference_->index() : std::span<const IndexEntry>{};
  }

 private:
  const ScanLayout& layout() const { return setup_->layout; }

  /// Short intervals are put together, long ones are cut into parts.
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
        slices_[slice_count_++].range = {m, std::min(per_slice, end - m)};
      }
    }
    piece_count_ = parts_ ? static_cast<std::size_t>(layout().intervals()) : slice_count_;
    if (pieces_.size() < piece_count_) pieces_.resize(piece_count_);
  }

  std::int64_t intervals_of(const Slice& slice) const {
    return parts_ ? 1 : ceil_div(slice.range.mcu_count, layout().interval_mcus());
  }

  template <typename Job>
  void run_jobs(std::int64_t jobs, const Job& job) {
    if (layout().mcus() < kThreadedMcus) {
      for (std::int64_t i = 0; i < jobs; ++i) job(i, 0);
    } else {
      pool_.run(jobs, std::cref(job));  // no copy: nothing is allocated
    }
  }

  template <typename Job>
  void for_each_slice(const Job& job) {
    run_jobs(static_cast<std::int64_t>(slice_count_), [&](std::int64_t i, int worker) {
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
    run_jobs(layout().mcus_high, [&](std::int64_t mcu_row, int worker) {
      ColorSubsampleArgs rows = args;
      rows.first_row = static_cast<std::int32_t>(mcu_row) * args.row_count;
      fast::color_subsample(colors_, rows, scratch_[static_cast<std::size_t>(worker)].rows);
    });
  }

  fast::SliceBits reserve_bits(const Slice& slice, Scratch& scratch) {
    const std::int64_t blocks = slice.range.mcu_count * layout().blocks_per_mcu;
    const std::int64_t intervals = intervals_of(slice);
    return {scratch.packed.reserve(fast::max_slice_bytes(blocks, intervals)),
            scratch.interval_bytes.reserve(intervals)};
  }

  void finish_slice(Slice& slice, const fast::SliceBits& bits) {
    if (parts_) {
      slice.packed_bits = bits.bits;
      const std::uint64_t bytes = (bits.bits + 7) / 8;
      std::memcpy(slice.packed.reserve(static_cast<std::int64_t>(bytes) + 8), bits.bytes,
                  bytes + 8);
      return;
    }
    stuff(bits.bytes, bits.interval_bytes, intervals_of(slice),
          slice.range.first_mcu / layout().interval_mcus(),
          pieces_[static_cast<std::size_t>(&slice - slices_.data())]);
  }

  void code_with_optimal_tables(std::array<HuffmanSpec, 4>& specs) {
    for (Scratch& scratch : scratch_) {
      if (!scratch.counts) scratch.counts = std::make_unique<fast::TokenCounts>();
      *scratch.counts = {};
    }
    for_each_slice([this](Slice& slice, Scratch& scratch) {
      const std::int64_t blocks = slice.range.mcu_count * layout().blocks_per_mcu;
      std::uint16_t* tokens = scratch.tokens.reserve(blocks * fast::kMaxBlockTokens);
      const std::uint16_t* end =
          fast::tokenise_slice(coding_, slice.range, *scratch.run, tokens,
                               slice.first_token.reserve(intervals_of(slice) + 1), *scratch.counts);
      std::copy(static_cast<const std::uint16_t*>(tokens), end, slice.tokens.reserve(end - tokens));
    });
    SymbolCounts total{};
    for (const Scratch& scratch : scratch_) fast::add_symbol_counts(*scratch.counts, total);
    HuffmanEncodeTables tables;
    for (int t = 0; t < kEncodeTables; ++t) {
      specs[static_cast<std::size_t>(t)] = optimal_huffman_spec(total.count[t]);
      fill_encode_table(specs[static_cast<std::size_t>(t)], t, tables);
    }
    fast::CodeTables codes;
    fast::fill_code_tables(tables, codes);
    fast::TokenCodes token_codes;
    fast::fill_token_codes(codes, token_codes);
    for_each_slice([&](Slice& slice, Scratch& scratch) {
      fast::SliceBits out = reserve_bits(slice, scratch);
      fast::code_slice_tokens(kernels_, slice.tokens.data(), slice.first_token.data(),
                              intervals_of(slice), parts_, token_codes, out);
      finish_slice(slice, out);
    });
  }

  /// Writes whole intervals with the markers between them; none follows the last of the scan.
  void stuff(const std::uint8_t* bytes, const std::uint64_t* interval_bytes, std::int64_t intervals,
             std::int64_t first_interval, Piece& piece) {
    const auto size = static_cast<std::int64_t>(interval_bytes[intervals - 1]);
    std::uint8_t* const begin = piece.bytes.reserve(max_stuffed_bytes(size, intervals) + 64);
    std::uint8_t* out = begin;
    std::uint64_t from = 0;
    for (std::int64_t i = 0; i < intervals; ++i) {
      out = kernels_.stuff(bytes + from, bytes + interval_bytes[i], out);
      from = interval_bytes[i];
      const std::int64_t interval = first_interval + i;
      if (interval + 1 == layout().intervals()) continue;
      *out++ = 0xFF;
      *out++ = static_cast<std::uint8_t>(marker::kRst0 + interval % 8);
    }
    piece.size = static_cast<std::uint64_t>(out - begin);
  }

  void join_parts() {
    const std::int64_t parts = ceil_div(layout().interval_mcus(), kSliceMcus);
    run_jobs(layout().intervals(), [&](std::int64_t i, int worker) {
      const auto begin = static_cast<std::size_t>(i * parts);
      const auto end = std::min(begin + static_cast<std::size_t>(parts), slice_count_);
      std::uint64_t bits = 0;
      for (std::size_t s = begin; s < end; ++s) bits += slices_[s].packed_bits;
      std::uint8_t* joined = scratch_[static_cast<std::size_t>(worker)].packed.reserve(
          static_cast<std::int64_t>(bits / 8 + 16));
      fast::BitJoiner joiner(joined);
      for (std::size_t s = begin; s < end; ++s)
        joiner.append(slices_[s].packed.data(), slices_[s].packed_bits);
      const std::uint64_t bytes = joiner.finish();
      stuff(joined, &bytes, 1, i, pieces_[static_cast<std::size_t>(i)]);
    });
  }

  int threads_;
  // Codes frames with a scan index, which the fast stages do not make.
  std::unique_ptr<EncodePipeline> reference_;
  bool by_reference_ = false;
  const fast::EncodeKernels& kernels_;
  const fast::ColorKernels& colors_;
  ThreadPool pool_;
  std::vector<Scratch> scratch_;  // one a worker
  const EncodeSetup* setup_ = nullptr;
  bool parts_ = false;  // slices are parts of intervals
  std::vector<Slice> slices_;
  std::size_t slice_count_ = 0;
  std::vector<Piece> pieces_;  // of a slice, or of an interval where slices are parts
  std::size_t piece_count_ = 0;
  Buffer<std::uint8_t> plane_memory_[kMaxComponents];
  ConstPlaneView planes_[kMaxComponents];
  std::array<QuantTable, 2> quant_table_{};
  fast::QuantRows quant_[2];
  fast::FrameCoding coding_{};
};

}  // namespace

std::unique_ptr<EncodePipeline> make_fast_encode_pipeline(int threads, CpuTarget target) {
  return std::make_unique<FastEncodePipeline>(threads, target);
}

}  // namespace zerorun
