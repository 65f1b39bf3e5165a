// The decoder's stages one after another on a device.
// SPDX-License-Identifier: MIT
#include "cuda/stages/careful_decoder.hpp"

#include <algorithm>
#include <cstring>

#include "codec/arith/integer.hpp"
#include "codec/pipeline/stage_table.hpp"
#include "cuda/base/tuning.hpp"
#include "cuda/stages/huffman_sync_from.hpp"

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

}  // namespace

Status CarefulDecoder::create() {
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

Status CarefulDecoder::decode_planes(const Input& in, const PlaneView* planes,
                                     ScanOutcome& outcome) {
  Found found;
  ZR_TRY(decode_blocks(in, found, outcome));
  const ScanLayout& layout = in.scan.layout;
  DequantIdctArgs args{layout, dequant_.data(), 0, layout.mcus(), coefficients_.data(), {}};
  std::copy_n(planes, layout.components, args.plane);
  Exec exec = in.exec;
  ZR_TRY(announce(in.probe, "dequant_idct"));
  ZR_TRY(dequant_idct_cuda(args, exec));
  ZR_TRY(announce(in.probe, ""));
  ZR_TRY(wait(exec));
  report(in, found, outcome);
  return Status::ok();
}

Status CarefulDecoder::decode_coefficients(const Input& in, std::vector<ComponentCoefficients>& out,
                                           ScanOutcome& outcome) {
  Found found;
  ZR_TRY(decode_blocks(in, found, outcome));
  const std::int64_t values = in.scan.layout.blocks() * kBlockSize;
  ZR_TRY(host_coefficients_.reserve(values));
  ZR_TRY(copy_async(host_coefficients_.data(), coefficients_.data(), values, in.exec));
  ZR_TRY(wait(in.exec));
  store_coefficients(in.scan, 0, in.scan.layout.mcus(), host_coefficients_.data(), out);
  report(in, found, outcome);
  return Status::ok();
}

/// Bytes to coefficients, and the cursors on their way to the host.
Status CarefulDecoder::decode_blocks(const Input& in, Found& found, ScanOutcome& outcome) {
  ZR_TRY(announce(in.probe, "upload"));
  ZR_TRY(upload_tables(in));
  ZR_TRY(unstuff(in, found, outcome));
  const std::int64_t intervals = in.scan.layout.intervals();
  plan_restarts({host_segments_.data(), found.segments}, intervals, plan_);
  ZR_TRY(upload_cursors(in, found));
  ZR_TRY(find_coefficients(in, found));
  return copy_async(host_cursors_.data(), cursors_.data(), intervals, in.exec);
}

Status CarefulDecoder::upload_tables(const Input& in) {
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

/// Clean bytes, and segments on the device and on the host.
Status CarefulDecoder::unstuff(const Input& in, Found& found, ScanOutcome& outcome) {
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
  found.segments = host_totals_.data()[0];
  outcome.consumed_bytes = host_totals_.data()[1];
  const auto entries = static_cast<std::int64_t>(found.segments) + 1;
  ZR_TRY(host_segments_.reserve(entries));
  ZR_TRY(copy_async(host_segments_.data(), segments_.data(), entries, exec));
  ZR_TRY(wait(exec));
  found.clean_bytes = host_segments_.data()[found.segments].first_byte;
  return Status::ok();
}

/// A cursor for each restart interval, and subsequences where the intervals are long.
Status CarefulDecoder::upload_cursors(const Input& in, Found& found) {
  const ScanLayout& layout = in.scan.layout;
  const std::int64_t intervals = layout.intervals();
  ZR_TRY(host_cursors_.reserve(intervals));
  ZR_TRY(cursors_.reserve(intervals));
  ZR_TRY(host_first_sync_.reserve(intervals + 1));
  ZR_TRY(first_sync_.reserve(intervals + 1));
  const auto clean_bits = static_cast<std::int64_t>(found.clean_bytes * 8);
  const bool synchronise = clean_bits / intervals >= tuning::kMinSyncIntervalBits;
  found.subsequence_bits = in.starts.start != nullptr ? in.starts.bits : tuning::kSubsequenceBits;
  for (std::int64_t i = 0; i < intervals; ++i) {
    BitCursor& cursor = host_cursors_.data()[i];
    cursor = {};
    const std::int64_t segment = plan_.segment_of_interval[size_of(i)];
    if (segment != kLostInterval) {
      cursor.bit = host_segments_.data()[segment].first_byte * 8;
      cursor.end_bit = host_segments_.data()[segment + 1].first_byte * 8;
    }
    const std::int64_t first_mcu = i * layout.interval_mcus();
    const std::int64_t mcus = std::min(layout.interval_mcus(), layout.mcus() - first_mcu);
    cursor.first_block = first_mcu * layout.blocks_per_mcu;
    cursor.blocks = mcus * layout.blocks_per_mcu;
    host_first_sync_.data()[i] = found.subsequences;
    const auto bits = static_cast<std::int64_t>(cursor.end_bit - cursor.bit);
    if (synchronise) found.subsequences += ceil_div(bits, found.subsequence_bits);
  }
  host_first_sync_.data()[intervals] = found.subsequences;
  ZR_TRY(sync_.reserve(found.subsequences));
  ZR_TRY(copy_async(cursors_.data(), host_cursors_.data(), intervals, in.exec));
  return copy_async(first_sync_.data(), host_first_sync_.data(), intervals + 1, in.exec);
}

/// Bits to coefficients.
Status CarefulDecoder::find_coefficients(const Input& in, const Found& found) {
  const ScanLayout& layout = in.scan.layout;
  const std::int64_t blocks = layout.blocks(), intervals = layout.intervals();
  ZR_TRY(pairs_.reserve(blocks * kBlockSize));
  ZR_TRY(pair_count_.reserve(blocks));
  ZR_TRY(coefficients_.reserve(blocks * kBlockSize));
  ZR_TRY(diff_.reserve(blocks));
  Exec exec = in.exec;
  ZR_TRY(announce(in.probe, "huffman_sync"));
  if (found.subsequences > 0)
    ZR_TRY(huffman_sync_from(
        {layout, clean_.data(), found.clean_bytes, huffman_.data(), cursors_.data(), intervals,
         found.subsequence_bits, first_sync_.data(), found.subsequences, sync_.data()},
        in.starts, exec));
  ZR_TRY(announce(in.probe, "huffman_decode"));
  const SyncPoint* const sync = found.subsequences > 0 ? sync_.data() : nullptr;
  ZR_TRY(huffman_decode_cuda(
      {layout, clean_.data(), found.clean_bytes, huffman_.data(), cursors_.data(), intervals, sync,
       found.subsequences, first_sync_.data(), pairs_.data(), pair_count_.data()},
      exec));
  ZR_TRY(announce(in.probe, "zero_run_expand"));
  ZR_TRY(zero_run_expand_cuda(
      {blocks, pairs_.data(), pair_count_.data(), coefficients_.data(), diff_.data()}, exec));
  ZR_TRY(announce(in.probe, "dc_predict"));
  ZR_CUDA_TRY(
      cudaMemsetAsync(carry_.data(), 0, kMaxComponents * sizeof(std::int16_t), stream_of(exec)));
  return dc_predict_cuda(
      {layout, 0, layout.mcus(), diff_.data(), coefficients_.data(), carry_.data()}, exec);
}

/// From the cursors, which are on the host by now.
void CarefulDecoder::report(const Input& in, const Found& found, ScanOutcome& outcome) {
  results_.resize(size_of(in.scan.layout.intervals()));
  for (std::size_t i = 0; i < results_.size(); ++i) {
    const BitCursor& cursor = host_cursors_.data()[i];
    results_[i] = {cursor.fault, cursor.bit, cursor.end_bit};
  }
  report_scan(in.data, {host_segments_.data(), found.segments + 1}, plan_, results_, outcome);
}

}  // namespace zerorun
