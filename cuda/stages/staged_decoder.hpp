// The decoder's stages one after another on a device, for sound scans: what a reader learns from,
// and what the benchmark measures beside the product. It knows nothing of damage.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "codec/pipeline/decode_pipeline.hpp"
#include "codec/pipeline/stage_table.hpp"
#include "cuda/base/scratch.hpp"
#include "cuda/base/span_clock.hpp"
#include "cuda/stages/huffman_sync.cuh"

namespace zerorun {

/// Keeps its memory between scans. After an error, work may be left on the stream.
class StagedDecoder {
 public:
  struct Input {
    const ScanHeader& scan;
    std::span<const std::uint8_t> on_device;  ///< device memory: from the first entropy-coded byte
    Exec exec;
    const StepProbe& probe;
  };
  /// `planes`: device memory, one a scan component. Returns when the device has done the work.
  /// Errors: invalid_argument for a scan that is not sound.
  Status decode_planes(const Input& in, const PlaneView* planes, ScanOutcome& outcome) {
    const ScanLayout& layout = in.scan.layout;
    if (layout.components > kMaxComponents) return Status(Errc::component_count);
    ZR_TRY(announce(in.probe, "upload"));
    ZR_TRY(reserve(in));
    ZR_TRY(upload_tables(in));
    ZR_TRY(unstuff(in, outcome));
    ZR_TRY(upload_cursors(in));
    ZR_TRY(find_coefficients(in));
    DequantIdctArgs args{layout, dequant_, 0, layout.mcus(), coefficients_, {}};
    std::copy_n(planes, layout.components, args.plane);
    Exec exec = in.exec;
    ZR_TRY(announce(in.probe, "dequant_idct"));
    ZR_TRY(dequant_idct_cuda(args, exec));
    ZR_TRY(announce(in.probe, ""));
    outcome.intervals = layout.intervals();
    return wait(exec);
  }

 private:
  /// Between any two kinds of memory. Pageable memory is free again when the call returns.
  template <typename T>
  static Status copy_async(T* to, const T* from, std::int64_t count, const Exec& exec) {
    ZR_CUDA_TRY(cudaMemcpyAsync(to, from, static_cast<std::size_t>(count) * sizeof(T),
                                cudaMemcpyDefault, stream_of(exec)));
    return Status::ok();
  }
  static Status wait(const Exec& exec) {
    ZR_CUDA_TRY(cudaStreamSynchronize(stream_of(exec)));
    return Status::ok();
  }

  static Status not_sound() {
    return Status(Errc::invalid_argument, "the staged decoder takes sound scans alone");
  }

  Status reserve(const Input& in) {
    const ScanLayout& layout = in.scan.layout;
    const auto size = static_cast<std::int64_t>(in.on_device.size());
    const std::int64_t blocks = layout.blocks(), intervals = layout.intervals();
    const std::int64_t most_subsequences = size * 8 / kSyncSubsequenceBits + intervals;
    return memory_.carve(
        scratch_array(huffman_, 1), scratch_array(dequant_, 1), scratch_array(clean_, size),
        scratch_array(segments_, size / 2 + 2), scratch_array(totals_, 2),
        scratch_array(cursors_, intervals), scratch_array(first_sync_, intervals + 1),
        scratch_array(sync_, most_subsequences), scratch_array(pairs_, blocks * kBlockSize),
        scratch_array(pair_count_, blocks), scratch_array(coefficients_, blocks * kBlockSize),
        scratch_array(diff_, blocks), scratch_array(carry_, kMaxComponents));
  }

  Status upload_tables(const Input& in) {
    HuffmanDecodeTables huffman{};
    for (std::size_t d = 0; d < 4; ++d) {
      if (in.scan.dc[d]) fill_decode_table(*in.scan.dc[d], huffman.dc[d]);
      if (in.scan.ac[d]) fill_decode_table(*in.scan.ac[d], huffman.ac[d]);
    }
    DequantTables dequant{};
    for (std::size_t i = 0; i < in.scan.components.size(); ++i)
      std::copy(in.scan.quant[i].begin(), in.scan.quant[i].end(), dequant.table[i]);
    ZR_TRY(copy_async(huffman_, &huffman, 1, in.exec));
    return copy_async(dequant_, &dequant, 1, in.exec);
  }

  /// Clean bytes, and a segment for each interval on the device and on the host.
  Status unstuff(const Input& in, ScanOutcome& outcome) {
    Exec exec = in.exec;
    ZR_TRY(announce(in.probe, "byte_unstuff"));
    ZR_TRY(byte_unstuff_cuda(
        {in.on_device.data(), in.on_device.size(), clean_, segments_, totals_, totals_ + 1}, exec));
    ZR_TRY(announce(in.probe, "restart plan"));
    std::uint64_t totals[2];
    ZR_TRY(copy_async(totals, totals_, 2, exec));
    ZR_TRY(wait(exec));
    outcome.consumed_bytes = totals[1];
    const std::int64_t intervals = in.scan.layout.intervals();
    if (totals[0] != static_cast<std::uint64_t>(intervals)) return not_sound();
    host_segments_.resize(totals[0] + 1);
    ZR_TRY(copy_async(host_segments_.data(), segments_, intervals + 1, exec));
    ZR_TRY(wait(exec));
    clean_bytes_ = host_segments_.back().first_byte;
    return Status::ok();
  }

  /// A cursor for each restart interval, and subsequences where the intervals are long.
  Status upload_cursors(const Input& in) {
    const ScanLayout& layout = in.scan.layout;
    const std::int64_t intervals = layout.intervals();
    host_cursors_.clear();
    host_first_sync_.assign(1, 0);
    subsequences_ = 0;
    // Where intervals are long on average.
    const bool synchronise =
        static_cast<std::int64_t>(clean_bytes_ * 8) / intervals >= 4 * kSyncSubsequenceBits;
    for (std::int64_t i = 0; i < intervals; ++i) {
      const EntropySegment* const segment = host_segments_.data() + i;
      const std::int64_t first_mcu = i * layout.interval_mcus();
      const std::int64_t mcus = std::min(layout.interval_mcus(), layout.mcus() - first_mcu);
      BitCursor cursor{};
      cursor.bit = segment[0].first_byte * 8;
      cursor.end_bit = segment[1].first_byte * 8;
      cursor.first_block = first_mcu * layout.blocks_per_mcu;
      cursor.blocks = mcus * layout.blocks_per_mcu;
      host_cursors_.push_back(cursor);
      const auto bits = static_cast<std::int64_t>(cursor.end_bit - cursor.bit);
      if (synchronise) subsequences_ += ceil_div(bits, std::int64_t{kSyncSubsequenceBits});
      host_first_sync_.push_back(subsequences_);
    }
    ZR_TRY(copy_async(cursors_, host_cursors_.data(), intervals, in.exec));
    return copy_async(first_sync_, host_first_sync_.data(), intervals + 1, in.exec);
  }

  /// The output of huffman_decode behind a fault is undefined: the next stages must not read it.
  Status check_cursors(const Exec& exec) {
    ZR_TRY(copy_async(host_cursors_.data(), cursors_, std::ssize(host_cursors_), exec));
    ZR_TRY(wait(exec));
    const auto is_sound = [](const BitCursor& cursor) { return cursor.fault == Errc::ok; };
    return std::ranges::all_of(host_cursors_, is_sound) ? Status::ok() : not_sound();
  }

  /// Bits to coefficients.
  Status find_coefficients(const Input& in) {
    const ScanLayout& layout = in.scan.layout;
    const std::int64_t intervals = layout.intervals();
    const SyncPoint* const sync = subsequences_ > 0 ? sync_ : nullptr;
    Exec exec = in.exec;
    ZR_TRY(announce(in.probe, "huffman_sync"));
    ZR_TRY(huffman_sync_cuda({layout, clean_, clean_bytes_, huffman_, cursors_, intervals,
                              kSyncSubsequenceBits, first_sync_, subsequences_, sync_},
                             exec));
    ZR_TRY(announce(in.probe, "huffman_decode"));
    ZR_TRY(huffman_decode_cuda({layout, clean_, clean_bytes_, huffman_, cursors_, intervals, sync,
                                subsequences_, first_sync_, pairs_, pair_count_},
                               exec));
    ZR_TRY(check_cursors(exec));
    ZR_TRY(announce(in.probe, "zero_run_expand"));
    ZR_TRY(
        zero_run_expand_cuda({layout.blocks(), pairs_, pair_count_, coefficients_, diff_}, exec));
    ZR_TRY(announce(in.probe, "dc_predict"));
    ZR_CUDA_TRY(cudaMemsetAsync(carry_, 0, kMaxComponents * sizeof *carry_, stream_of(exec)));
    return dc_predict_cuda({layout, 0, layout.mcus(), diff_, coefficients_, carry_}, exec);
  }

  // Of the scan.
  std::uint64_t clean_bytes_ = 0;
  std::int64_t subsequences_ = 0;  ///< 0: intervals are decoded as a whole
  std::vector<EntropySegment> host_segments_;
  std::vector<BitCursor> host_cursors_;  ///< one an interval
  std::vector<std::int64_t> host_first_sync_;

  Scratch memory_;  // of all that follow, in device memory
  HuffmanDecodeTables* huffman_ = nullptr;
  DequantTables* dequant_ = nullptr;
  std::uint8_t* clean_ = nullptr;
  EntropySegment* segments_ = nullptr;
  std::uint64_t* totals_ = nullptr;  ///< segments, consumed bytes
  BitCursor* cursors_ = nullptr;
  std::int64_t* first_sync_ = nullptr;
  SyncPoint* sync_ = nullptr;
  RunLevel* pairs_ = nullptr;
  std::uint8_t* pair_count_ = nullptr;
  std::int16_t *coefficients_ = nullptr, *diff_ = nullptr, *carry_ = nullptr;
};

}  // namespace zerorun
