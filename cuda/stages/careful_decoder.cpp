// The decoder's stages one after another on a device.
// SPDX-License-Identifier: MIT
#include "cuda/stages/careful_decoder.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "codec/pipeline/cuda_backend.hpp"
#include "codec/pipeline/stage_table.hpp"
#include "cuda/base/tuning.hpp"

namespace zerorun {
StagedDecodePipeline::~StagedDecodePipeline() {
  // Nothing may be released while a call that failed half-way has left work behind.
  if (own_stream_.get() != nullptr) (void)cudaStreamSynchronize(own_stream_.get());
}

Status StagedDecodePipeline::create() {
  const DeviceGuard guard(device_);
  ZR_TRY(guard.status());
  ZR_TRY(own_stream_.create());
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

void StagedDecodePipeline::work_on(const cudaStream_t* stream, const std::uint8_t* host_jpeg,
                                   const std::uint8_t* device_jpeg) {
  borrowed_stream_ = stream != nullptr;
  stream_in_use_ = stream != nullptr ? *stream : nullptr;
  host_jpeg_ = host_jpeg;
  device_jpeg_ = device_jpeg;
}

Status StagedDecodePipeline::wait() {
  ZR_CUDA_TRY(cudaStreamSynchronize(stream()));
  return Status::ok();
}

void StagedDecodePipeline::open_planes(const ScanHeader& scan, PlaneView* planes) {
  for (std::size_t i = 0; i < scan.components.size(); ++i) {
    scanned_[scan.components[i]] = true;
    planes[i] = planes_[scan.components[i]];
  }
}

Status StagedDecodePipeline::begin_planes(const FrameHeader& frame, const FrameView* direct,
                                          bool luma_only) {
  const DeviceGuard guard(device_);
  ZR_TRY(guard.status());
  coefficients_out_ = nullptr;
  direct_ = direct != nullptr;
  components_ = static_cast<int>(frame.components.size());
  h_max_ = v_max_ = 1;
  for (int c = 0; c < components_; ++c) {
    h_[c] = frame.components[static_cast<std::size_t>(c)].h;
    v_[c] = frame.components[static_cast<std::size_t>(c)].v;
    h_max_ = std::max(h_max_, h_[c]);
    v_max_ = std::max(v_max_, v_[c]);
    scanned_[c] = false;
  }
  for (int c = 0; c < components_; ++c) {
    PlaneView& plane = planes_[c];
    plane.width = component_extent(frame.width, h_[c], h_max_);
    plane.height = component_extent(frame.height, v_[c], v_max_);
    if (luma_only && c > 0) {
      plane.data = nullptr;
    } else if (direct_ && borrowed_stream_) {
      plane.data = direct->data[static_cast<std::size_t>(c)];
      plane.stride_bytes = direct->stride_bytes[static_cast<std::size_t>(c)];
    } else {
      plane.stride_bytes =
          (plane.width + kPlanePitchAlign - 1) / kPlanePitchAlign * kPlanePitchAlign;
      ZR_TRY(plane_memory_[c].reserve(plane.stride_bytes * plane.height));
      plane.data = plane_memory_[c].data();
    }
  }
  return Status::ok();
}

Status StagedDecodePipeline::begin_coefficients(std::vector<ComponentCoefficients>& out) {
  coefficients_out_ = &out;
  return Status::ok();
}

Status StagedDecodePipeline::decode_scan(const ScanHeader& scan, std::span<const std::uint8_t> data,
                                         ScanOutcome& outcome) {
  const DeviceGuard guard(device_);
  ZR_TRY(guard.status());
  scan_ = &scan;
  PlaneView planes[kMaxComponents];
  open_planes(scan, planes);
  Status status = run_scan(data, outcome);
  // After an error too: pinned memory is in use until the stream is idle.
  Status idle = wait();
  return status ? idle : status;
}

Status StagedDecodePipeline::run_scan(std::span<const std::uint8_t> data, ScanOutcome& outcome) {
  ZR_TRY(mark("upload"));
  ZR_TRY(upload_tables());
  ZR_TRY(unstuff(data.first(scan_extent(data)), outcome));
  const auto segments = static_cast<std::size_t>(segment_total_);
  plan_restarts({host_segments_.data(), segments}, layout().intervals(), plan_);
  ZR_TRY(upload_cursors());
  ZR_TRY(decode_blocks());
  ZR_CUDA_TRY(cudaMemcpyAsync(host_cursors_.data(), cursors_.data(),
                              static_cast<std::size_t>(layout().intervals()) * sizeof(BitCursor),
                              cudaMemcpyDeviceToHost, stream()));
  ZR_TRY(coefficients_out_ != nullptr ? store_coefficients() : transform_blocks());
  ZR_TRY(wait());
  results_.resize(static_cast<std::size_t>(layout().intervals()));
  for (std::size_t i = 0; i < results_.size(); ++i) {
    const BitCursor& cursor = host_cursors_.data()[i];
    results_[i] = {cursor.fault, cursor.bit, cursor.end_bit};
  }
  report_scan(data, {host_segments_.data(), segments + 1}, plan_, results_, outcome);
  return Status::ok();
}

Status StagedDecodePipeline::upload_tables() {
  HuffmanDecodeTables& huffman = *host_huffman_.data();
  for (std::size_t d = 0; d < 4; ++d) {
    if (scan_->dc[d]) fill_decode_table(*scan_->dc[d], huffman.dc[d]);
    if (scan_->ac[d]) fill_decode_table(*scan_->ac[d], huffman.ac[d]);
  }
  DequantTables& dequant = *host_dequant_.data();
  for (std::size_t i = 0; i < scan_->components.size(); ++i)
    std::copy(scan_->quant[i].begin(), scan_->quant[i].end(), dequant.table[i]);
  HuffmanDecodeTables* on_device = huffman_.data();
  ZR_CUDA_TRY(cudaMemcpyAsync(on_device->dc, huffman.dc, sizeof huffman.dc, cudaMemcpyHostToDevice,
                              stream()));
  ZR_CUDA_TRY(cudaMemcpyAsync(on_device->ac, huffman.ac, sizeof huffman.ac, cudaMemcpyHostToDevice,
                              stream()));
  ZR_CUDA_TRY(
      cudaMemcpyAsync(dequant_.data(), &dequant, sizeof dequant, cudaMemcpyHostToDevice, stream()));
  return Status::ok();
}

/// Clean bytes and segments, the latter on the host too.
Status StagedDecodePipeline::unstuff(std::span<const std::uint8_t> data, ScanOutcome& outcome) {
  const auto size = static_cast<std::int64_t>(data.size());
  const std::uint8_t* in = nullptr;
  if (device_jpeg_ != nullptr) {
    in = device_jpeg_ + (data.data() - host_jpeg_);
  } else {
    ZR_TRY(upload_.enqueue(data, stream(), in));
  }
  ZR_TRY(clean_.reserve(size));
  ZR_TRY(segments_.reserve(size / 2 + 2));
  Exec queue = exec();
  ZR_TRY(mark("byte_unstuff"));
  ZR_TRY(cuda_stages().byte_unstuff(
      {in, data.size(), clean_.data(), segments_.data(), totals_.data(), totals_.data() + 1},
      queue));
  ZR_TRY(mark("restart plan"));
  ZR_CUDA_TRY(cudaMemcpyAsync(host_totals_.data(), totals_.data(), 2 * sizeof(std::uint64_t),
                              cudaMemcpyDeviceToHost, stream()));
  ZR_TRY(wait());
  segment_total_ = static_cast<std::int64_t>(host_totals_.data()[0]);
  outcome.consumed_bytes = host_totals_.data()[1];
  ZR_TRY(host_segments_.reserve(segment_total_ + 1));
  ZR_CUDA_TRY(cudaMemcpyAsync(host_segments_.data(), segments_.data(),
                              static_cast<std::size_t>(segment_total_ + 1) * sizeof(EntropySegment),
                              cudaMemcpyDeviceToHost, stream()));
  ZR_TRY(wait());
  clean_bytes_ = host_segments_.data()[segment_total_].first_byte;
  return Status::ok();
}

/// A cursor for each restart interval, and rows of sync points where the intervals are long.
Status StagedDecodePipeline::upload_cursors() {
  const std::int64_t intervals = layout().intervals();
  ZR_TRY(host_cursors_.reserve(intervals));
  ZR_TRY(cursors_.reserve(intervals));
  ZR_TRY(host_first_sync_.reserve(intervals + 1));
  ZR_TRY(first_sync_.reserve(intervals + 1));
  const auto clean_bits = static_cast<std::int64_t>(clean_bytes_ * 8);
  const bool synchronise = clean_bits / intervals >= tuning::kMinSyncIntervalBits;
  sync_count_ = 0;
  for (std::int64_t i = 0; i < intervals; ++i) {
    BitCursor& cursor = host_cursors_.data()[i];
    cursor = {};
    const std::int64_t segment = plan_.segment_of_interval[static_cast<std::size_t>(i)];
    if (segment != kLostInterval) {
      cursor.bit = host_segments_.data()[segment].first_byte * 8;
      cursor.end_bit = host_segments_.data()[segment + 1].first_byte * 8;
    }
    const std::int64_t first_mcu = i * layout().interval_mcus();
    const std::int64_t mcus = std::min(layout().interval_mcus(), layout().mcus() - first_mcu);
    cursor.first_block = first_mcu * layout().blocks_per_mcu;
    cursor.blocks = mcus * layout().blocks_per_mcu;
    host_first_sync_.data()[i] = sync_count_;
    const auto bits = static_cast<std::int64_t>(cursor.end_bit - cursor.bit);
    if (synchronise)
      sync_count_ += (bits + tuning::kSubsequenceBits - 1) / tuning::kSubsequenceBits;
  }
  host_first_sync_.data()[intervals] = sync_count_;
  ZR_TRY(sync_.reserve(sync_count_));
  ZR_CUDA_TRY(cudaMemcpyAsync(cursors_.data(), host_cursors_.data(),
                              static_cast<std::size_t>(intervals) * sizeof(BitCursor),
                              cudaMemcpyHostToDevice, stream()));
  ZR_CUDA_TRY(cudaMemcpyAsync(first_sync_.data(), host_first_sync_.data(),
                              static_cast<std::size_t>(intervals + 1) * sizeof(std::int64_t),
                              cudaMemcpyHostToDevice, stream()));
  return Status::ok();
}

/// Bits to coefficients.
Status StagedDecodePipeline::decode_blocks() {
  const StageTable& stages = cuda_stages();
  const std::int64_t blocks = layout().blocks(), intervals = layout().intervals();
  ZR_TRY(pairs_.reserve(blocks * kBlockSize));
  ZR_TRY(pair_count_.reserve(blocks));
  ZR_TRY(coefficients_.reserve(blocks * kBlockSize));
  ZR_TRY(diff_.reserve(blocks));
  Exec queue = exec();
  ZR_TRY(mark("huffman_sync"));
  if (sync_count_ > 0)
    ZR_TRY(stages.huffman_sync(
        {layout(), clean_.data(), clean_bytes_, huffman_.data(), cursors_.data(), intervals,
         tuning::kSubsequenceBits, first_sync_.data(), sync_count_, sync_.data()},
        queue));
  ZR_TRY(mark("huffman_decode"));
  ZR_TRY(
      stages.huffman_decode({layout(), clean_.data(), clean_bytes_, huffman_.data(),
                             cursors_.data(), intervals, sync_count_ > 0 ? sync_.data() : nullptr,
                             sync_count_, first_sync_.data(), pairs_.data(), pair_count_.data()},
                            queue));
  ZR_TRY(mark("zero_run_expand"));
  ZR_TRY(stages.zero_run_expand(
      {blocks, pairs_.data(), pair_count_.data(), coefficients_.data(), diff_.data()}, queue));
  ZR_TRY(mark("dc_predict"));
  ZR_CUDA_TRY(cudaMemsetAsync(carry_.data(), 0, kMaxComponents * sizeof(std::int16_t), stream()));
  return stages.dc_predict(
      {layout(), 0, layout().mcus(), diff_.data(), coefficients_.data(), carry_.data()}, queue);
}

Status StagedDecodePipeline::transform_blocks() {
  DequantIdctArgs args{layout(), dequant_.data(), 0, layout().mcus(), coefficients_.data(), {}};
  for (std::size_t i = 0; i < scan_->components.size(); ++i)
    args.plane[i] = planes_[scan_->components[i]];
  Exec queue = exec();
  ZR_TRY(mark("dequant_idct"));
  ZR_TRY(cuda_stages().dequant_idct(args, queue));
  return mark("");
}

Status StagedDecodePipeline::store_coefficients() {
  const std::int64_t values = layout().blocks() * kBlockSize;
  ZR_TRY(host_coefficients_.reserve(values));
  ZR_CUDA_TRY(cudaMemcpyAsync(host_coefficients_.data(), coefficients_.data(),
                              static_cast<std::size_t>(values) * sizeof(std::int16_t),
                              cudaMemcpyDeviceToHost, stream()));
  ZR_TRY(wait());
  const std::int16_t* block = host_coefficients_.data();
  for (std::int64_t m = 0; m < layout().mcus(); ++m)
    for (std::int32_t i = 0; i < layout().blocks_per_mcu; ++i, block += kBlockSize) {
      const BlockPlace place = place_block(layout(), m, i);
      if (!place.inside) continue;
      auto& component = (*coefficients_out_)[static_cast<std::size_t>(
          scan_->components[static_cast<std::size_t>(place.component)])];
      const std::int64_t at = std::int64_t{place.y} * component.blocks_wide + place.x;
      std::copy_n(block, kBlockSize, component.values.begin() + at * kBlockSize);
    }
  return Status::ok();
}

Status StagedDecodePipeline::finish_coefficients() {
  coefficients_out_ = nullptr;
  return Status::ok();
}

}  // namespace zerorun
