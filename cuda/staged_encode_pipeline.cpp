// Host frames through the staged encoder: upload, stages, download of the coded bytes.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstring>

#include "cuda/memory.hpp"
#include "cuda/staged_encoder.hpp"

namespace zerorun {
namespace {

/// Rows are copied to pinned memory and sent off in bands of about so many bytes, so that one band
/// travels while the next is being copied.
constexpr std::size_t kBandBytes = std::size_t{1} << 20;
/// Device rows start on whole sectors.
constexpr std::size_t kPitchAlign = 128;

/// What the host has to know of a coded frame.
struct FrameOutcome {
  std::uint64_t scan_bytes;
  HuffmanSpec specs[kEncodeTables];
};

class StagedEncodePipeline final : public EncodePipeline {
 public:
  explicit StagedEncodePipeline(int device) : device_(device) {}
  ~StagedEncodePipeline() override {
    // Nothing may be released while a call that failed half-way has left work behind.
    if (stream_.get() != nullptr) (void)cudaStreamSynchronize(stream_.get());
  }

  Status create() {
    const DeviceGuard guard(device_);
    ZR_TRY(guard.status());
    ZR_TRY(stream_.create());
    return outcome_.reserve(1);
  }

  Status encode_scan(const EncodeSetup& setup, const ConstFrameView& frame,
                     std::array<HuffmanSpec, 4>& specs) override {
    const DeviceGuard guard(device_);
    ZR_TRY(guard.status());
    outcome_.data()->scan_bytes = 0;
    Status enqueued = enqueue(setup, frame);
    // Even after an error: the staging memory is in use until the stream is idle.
    const cudaError_t error = cudaStreamSynchronize(stream_.get());
    if (!enqueued) return enqueued;
    ZR_CUDA_TRY(error);
    std::copy_n(outcome_.data()->specs, kEncodeTables, specs.begin());
    return Status::ok();
  }

  std::uint64_t scan_bytes() const override { return outcome_.data()->scan_bytes; }

  Status copy_scan(std::byte* out) const override {
    const DeviceGuard guard(device_);
    ZR_TRY(guard.status());
    ZR_CUDA_TRY(cudaMemcpyAsync(out, encoder_.arrays().scan, scan_bytes(), cudaMemcpyDeviceToHost,
                                stream_.get()));
    ZR_CUDA_TRY(cudaStreamSynchronize(stream_.get()));
    return Status::ok();
  }

 private:
  Status enqueue(const EncodeSetup& setup, const ConstFrameView& frame) {
    ConstFrameView on_device;
    ZR_TRY(upload(frame, setup.layout.components, on_device));
    ZR_TRY(encoder_.enqueue(setup, on_device, stream_.get()));
    ZR_CUDA_TRY(cudaMemcpyAsync(&outcome_.data()->scan_bytes, encoder_.arrays().scan_bytes,
                                sizeof(std::uint64_t), cudaMemcpyDeviceToHost, stream_.get()));
    ZR_CUDA_TRY(cudaMemcpyAsync(outcome_.data()->specs, encoder_.arrays().specs,
                                sizeof outcome_.data()->specs, cudaMemcpyDeviceToHost,
                                stream_.get()));
    return Status::ok();
  }

  /// Sends the rows as they are, without what lies between them. For a grey stream only plane 0
  /// is needed.
  Status upload(const ConstFrameView& frame, int components, ConstFrameView& on_device) {
    const int planes = components == 1 ? 1 : plane_count(frame.format);
    std::array<std::size_t, 3> row_bytes{}, rows{}, pitch{};
    std::size_t staging_bytes = 0, device_bytes = 0;
    for (std::size_t p = 0; p < static_cast<std::size_t>(planes); ++p) {
      row_bytes[p] = plane_row_bytes(frame.format, static_cast<int>(p), frame.width);
      rows[p] =
          static_cast<std::size_t>(plane_rows(frame.format, static_cast<int>(p), frame.height));
      pitch[p] = (row_bytes[p] + kPitchAlign - 1) / kPitchAlign * kPitchAlign;
      staging_bytes += row_bytes[p] * rows[p];
      device_bytes += pitch[p] * rows[p];
    }
    ZR_TRY(staging_.reserve(static_cast<std::int64_t>(staging_bytes)));
    ZR_TRY(frame_.reserve(static_cast<std::int64_t>(device_bytes)));
    on_device = {frame.format, frame.width, frame.height, {}, {}};
    std::uint8_t* staging = staging_.data();
    std::uint8_t* target = frame_.data();
    for (std::size_t p = 0; p < static_cast<std::size_t>(planes); ++p) {
      on_device.data[p] = target;
      on_device.stride_bytes[p] = static_cast<std::ptrdiff_t>(pitch[p]);
      const std::size_t band = std::max<std::size_t>(1, kBandBytes / row_bytes[p]);
      for (std::size_t y = 0; y < rows[p]; y += band) {
        const std::size_t count = std::min(band, rows[p] - y);
        for (std::size_t i = 0; i < count; ++i)
          std::memcpy(staging + i * row_bytes[p],
                      frame.data[p] + static_cast<std::ptrdiff_t>(y + i) * frame.stride_bytes[p],
                      row_bytes[p]);
        ZR_CUDA_TRY(cudaMemcpy2DAsync(target, pitch[p], staging, row_bytes[p], row_bytes[p], count,
                                      cudaMemcpyHostToDevice, stream_.get()));
        staging += count * row_bytes[p];
        target += count * pitch[p];
      }
    }
    return Status::ok();
  }

  const int device_;
  Stream stream_;
  PinnedBuffer<std::uint8_t> staging_;
  DeviceBuffer<std::uint8_t> frame_;
  PinnedBuffer<FrameOutcome> outcome_;
  StagedEncoder encoder_;
};

}  // namespace

Result<std::unique_ptr<EncodePipeline>> make_staged_encode_pipeline(int device) {
  auto pipeline = std::make_unique<StagedEncodePipeline>(device);
  if (Status status = pipeline->create(); !status) return status;
  return std::unique_ptr<EncodePipeline>(std::move(pipeline));
}

}  // namespace zerorun
