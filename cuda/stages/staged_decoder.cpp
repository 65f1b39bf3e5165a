// The decoder's stages one after another on a device.
// SPDX-License-Identifier: MIT
#include "cuda/stages/staged_decoder.hpp"

#include <algorithm>
#include <cstring>

#include "codec/arith/integer.hpp"
#include "cuda/base/tuning.hpp"

namespace zerorun {
namespace {

std::size_t size_of(std::int64_t count) { return static_cast<std::size_t>(count); }

/// Between any two kinds of memory.
template <typename T>
Status copy_async(T* to, const T* from, std::int64_t count, const Exec& exec) {
  ZR_CUDA_TRY(
      cudaMemcpyAsync(to, from, size_of(count) * sizeof(T), cudaMemcpyDefault, stream_of(exec)));
  return Status::ok();
}
Status wait(const Exec& exec) {
  ZR_CUDA_TRY(cudaStreamSynchronize(stream_of(exec)));
  return Status::ok();
}

Status not_sound() {
  return Status(Errc::invalid_argument, "the staged decoder takes sound scans alone");
}

}  // namespace

Status StagedDecoder::create() {
  ZR_TRY(host_huffman_.reserve(1));
  ZR_TRY(huffman_.reserve(1));
  ZR_TRY(host_dequant_.reserve(1));
  ZR_TRY(dequant_.reserve(1));
  ZR_TRY(totals_.reserve(2));
  ZR_TRY(host_totals_.reserve(2));
  ZR_TRY(carry_.reserve(kMaxComponents));
  std::memset(host_huffman_.data(), 0, sizeof(HuffmanDecodeTables));
  std::memset(host_dequant_.data(), 0, sizeof(DequantTables));
  return Status::ok();
}

Status StagedDecoder::decode_planes(const Input& in, const PlaneView* planes,
                                    ScanOutcome& outcome) {
  const ScanLayout& layout = in.scan.layout;
  Found found;
  ZR_TRY(announce(in.probe, "upload"));
  ZR_TRY(upload_tables(in));
  ZR_TRY(unstuff(in, found, outcome));
  ZR_TRY(upload_cursors(in, found));
  ZR_TRY(find_coefficients(in, found));
  DequantIdctArgs args{layout, dequant_.data(), 0, layout.mcus(), coefficients_.data(), {}};
  std::copy_n(planes, layout.components, args.plane);
  Exec exec = in.exec;
  ZR_TRY(announce(in.probe, "dequant_idct"));
  ZR_TRY(dequant_idct_cuda(args, exec));
  ZR_TRY(announce(in.probe, ""));
  outcome.intervals = layout.intervals();
  return wait(exec);
}

Status StagedDecoder::upload_tables(const Input& in) {
  HuffmanDecodeTables& huffman = *host_huffman_.data();
  for (std::size_t d = 0; d < 4; ++d) {
    if (in.scan.dc[d]) fill_decode_table(*in.scan.dc[d], huffman.dc[d]);
    if (in.scan.ac[d]) fill_decode_table(*in.scan.ac[d], huffman.ac[d]);
  }
  DequantTables& dequant = *host_dequant_.data();
  for (std::size_t i = 0; i < in.scan.components.size(); ++i)
    std::copy(in.scan.quant[i].begin(), in.scan.quant[i].end(), dequant.table[i]);
  HuffmanDecodeTables* on_device = huffman_.data();
  ZR_TRY(copy_async(&on_device->dc, &huffman.dc, 1, in.exec));
  ZR_TRY(copy_async(&on_device->ac, &huffman.ac, 1, in.exec));
  return copy_async(dequant_.data(), &dequant, 1, in.exec);
}

/// Clean bytes, and a segment for each interval on the device and on the host.
Status StagedDecoder::unstuff(const Input& in, Found& found, ScanOutcome& outcome) {
  const auto size = static_cast<std::int64_t>(in.on_device.size());
  ZR_TRY(clean_.reserve(size));
  ZR_TRY(segments_.reserve(size / 2 + 2));
  Exec exec = in.exec;
  ZR_TRY(announce(in.probe, "byte_unstuff"));
  ZR_TRY(byte_unstuff_cuda({in.on_device.data(), in.on_device.size(), clean_.data(),
                            segments_.data(), totals_.data(), totals_.data() + 1},
                           exec));
  ZR_TRY(announce(in.probe, "restart plan"));
  ZR_TRY(copy_async(host_totals_.data(), totals_.data(), 2, exec));
  ZR_TRY(wait(exec));
  outcome.consumed_bytes = host_totals_.data()[1];
  const std::int64_t intervals = in.scan.layout.intervals();
  if (host_totals_.data()[0] != static_cast<std::uint64_t>(intervals)) return not_sound();
  ZR_TRY(host_segments_.reserve(intervals + 1));
  ZR_TRY(copy_async(host_segments_.data(), segments_.data(), intervals + 1, exec));
  ZR_TRY(wait(exec));
  found.clean_bytes = host_segments_.data()[intervals].first_byte;
  return Status::ok();
}

/// A cursor for each restart interval, and subsequences where the intervals are long.
Status StagedDecoder::upload_cursors(const Input& in, Found& found) {
  const ScanLayout& layout = in.scan.layout;
  const std::int64_t intervals = layout.intervals();
  ZR_TRY(host_cursors_.reserve(intervals));
  ZR_TRY(cursors_.reserve(intervals));
  ZR_TRY(host_first_sync_.reserve(intervals + 1));
  ZR_TRY(first_sync_.reserve(intervals + 1));
  const auto clean_bits = static_cast<std::int64_t>(found.clean_bytes * 8);
  const bool synchronise = clean_bits / intervals >= tuning::kMinSyncIntervalBits;
  for (std::int64_t i = 0; i < intervals; ++i) {
    BitCursor& cursor = host_cursors_.data()[i];
    cursor = {};
    cursor.bit = host_segments_.data()[i].first_byte * 8;
    cursor.end_bit = host_segments_.data()[i + 1].first_byte * 8;
    const std::int64_t first_mcu = i * layout.interval_mcus();
    const std::int64_t mcus = std::min(layout.interval_mcus(), layout.mcus() - first_mcu);
    cursor.first_block = first_mcu * layout.blocks_per_mcu;
    cursor.blocks = mcus * layout.blocks_per_mcu;
    host_first_sync_.data()[i] = found.subsequences;
    const auto bits = static_cast<std::int64_t>(cursor.end_bit - cursor.bit);
    if (synchronise) found.subsequences += ceil_div(bits, std::int64_t{tuning::kSubsequenceBits});
  }
  host_first_sync_.data()[intervals] = found.subsequences;
  ZR_TRY(sync_.reserve(found.subsequences));
  ZR_TRY(copy_async(cursors_.data(), host_cursors_.data(), intervals, in.exec));
  return copy_async(first_sync_.data(), host_first_sync_.data(), intervals + 1, in.exec);
}

/// What huffman_decode left behind a fault is undefined, so the next stages must not read it.
Status StagedDecoder::check_cursors(std::int64_t intervals, const Exec& exec) {
  ZR_TRY(copy_async(host_cursors_.data(), cursors_.data(), intervals, exec));
  ZR_TRY(wait(exec));
  const std::span cursors(host_cursors_.data(), size_of(intervals));
  const auto is_sound = [](const BitCursor& cursor) { return cursor.fault == Errc::ok; };
  return std::ranges::all_of(cursors, is_sound) ? Status::ok() : not_sound();
}

/// Bits to coefficients.
Status StagedDecoder::find_coefficients(const Input& in, const Found& found) {
  const ScanLayout& layout = in.scan.layout;
  const std::int64_t blocks = layout.blocks(), intervals = layout.intervals();
  ZR_TRY(pairs_.reserve(blocks * kBlockSize));
  ZR_TRY(pair_count_.reserve(blocks));
  ZR_TRY(coefficients_.reserve(blocks * kBlockSize));
  ZR_TRY(diff_.reserve(blocks));
  Exec exec = in.exec;
  ZR_TRY(announce(in.probe, "huffman_sync"));
  if (found.subsequences > 0)
    ZR_TRY(huffman_sync_cuda(
        {layout, clean_.data(), found.clean_bytes, huffman_.data(), cursors_.data(), intervals,
         tuning::kSubsequenceBits, first_sync_.data(), found.subsequences, sync_.data()},
        exec));
  ZR_TRY(announce(in.probe, "huffman_decode"));
  const SyncPoint* const sync = found.subsequences > 0 ? sync_.data() : nullptr;
  ZR_TRY(huffman_decode_cuda(
      {layout, clean_.data(), found.clean_bytes, huffman_.data(), cursors_.data(), intervals, sync,
       found.subsequences, first_sync_.data(), pairs_.data(), pair_count_.data()},
      exec));
  ZR_TRY(check_cursors(intervals, exec));
  ZR_TRY(announce(in.probe, "zero_run_expand"));
  ZR_TRY(zero_run_expand_cuda(
      {blocks, pairs_.data(), pair_count_.data(), coefficients_.data(), diff_.data()}, exec));
  ZR_TRY(announce(in.probe, "dc_predict"));
  ZR_CUDA_TRY(
      cudaMemsetAsync(carry_.data(), 0, kMaxComponents * sizeof(std::int16_t), stream_of(exec)));
  return dc_predict_cuda(
      {layout, 0, layout.mcus(), diff_.data(), coefficients_.data(), carry_.data()}, exec);
}

}  // namespace zerorun
