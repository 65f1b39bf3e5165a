// Host frames through the encoder: upload, kernels, download of the coded bytes.
// SPDX-License-Identifier: MIT
#include "codec/base/pixel_rows.hpp"
#include "codec/pipeline/encode_pipeline.hpp"
#include "cuda/base/span_clock.hpp"
#include "cuda/base/this_device.hpp"
#include "cuda/encode/copies.hpp"
#include "cuda/encode/frame_upload.hpp"
#include "cuda/encode/sized_encoder.hpp"

namespace zerorun {
namespace {

/// The device's report about a coded frame, in pinned memory.
struct FrameOutcome {
  std::uint64_t scan_bytes;
  SizedCoding sized;
  HuffmanSpec specs[kEncodeTables];
  SymbolCounts counts;
};

class CudaEncodePipeline final : public EncodePipeline {
 public:
  CudaEncodePipeline(int device, int threads) : device_(device), clock_(device), upload_(threads) {}
  ~CudaEncodePipeline() override {
    // A call that failed half-way may have left work behind that uses the memory.
    if (stream_.get() != nullptr) ignore_failure(cudaStreamSynchronize(stream_.get()));
  }

  Status create() {
    const DeviceGuard guard(device_);
    ZR_TRY(guard.status());
    ZR_TRY(current_limits().status());
    ZR_TRY(stream_.create());
    ZR_TRY(begin_.create(cudaEventDefault));
    ZR_TRY(end_.create(cudaEventDefault));
    return outcome_.reserve(1);
  }

  Status encode_scan(const EncodeSetup& setup, const ConstFrameView& frame,
                     std::array<HuffmanSpec, 4>& specs) override {
    return encode(setup, specs,
                  [&](ConstFrameView& on_device) { return upload(setup, frame, on_device); });
  }

  Status encode_again(const EncodeSetup& setup, const ConstFrameView& frame,
                      std::array<HuffmanSpec, 4>& specs) override {
    if (uploaded_.data[0] == nullptr) return encode_scan(setup, frame, specs);
    return encode(setup, specs, [&](ConstFrameView& on_device) {
      on_device = uploaded_;
      return Status::ok();
    });
  }

  Status count_symbols(const EncodeSetup& setup, const ConstFrameView& frame, bool is_again,
                       SymbolCounts& counts) override {
    return on_device([&]() -> Status {
      ConstFrameView uploaded = uploaded_;
      if (!is_again || uploaded.data[0] == nullptr) ZR_TRY(upload(setup, frame, uploaded));
      ZR_TRY(clock_.mark(stream_.get(), DeviceStep::kernels));
      SymbolCounts& found = outcome_.data()->counts;
      ZR_TRY(encoder_.enqueue_counts(setup, uploaded, &found, stream_.get()));
      ZR_TRY(clock_.mark(stream_.get(), std::nullopt));
      ZR_CUDA_TRY(cudaStreamSynchronize(stream_.get()));
      counts = found;
      return clock_.collect(stream_.get());
    });
  }

  Status encode_surface(const EncodeSetup& setup, const DeviceSurface& surface,
                        std::array<HuffmanSpec, 4>& specs) override {
    return encode(setup, specs,
                  [&](ConstFrameView& on_device) { return convert(surface, on_device); });
  }

  bool reaches_sizes(const EncodeSetup& setup) const override { return !setup.progressive; }
  Result<SizedCoding> encode_to_size(const EncodeParams& params, const EncodeSetup& setup,
                                     const ConstFrameView& frame) override {
    return encode_sized(params, setup,
                        [&](ConstFrameView& on_device) { return upload(setup, frame, on_device); });
  }
  Result<SizedCoding> encode_to_size(const EncodeParams& params, const EncodeSetup& setup,
                                     const DeviceSurface& surface) override {
    if (!reaches_sizes(setup))
      return Status(Errc::invalid_argument,
                    "a progressive stream of a picture in GPU memory reaches no sizes");
    return encode_sized(params, setup,
                        [&](ConstFrameView& on_device) { return convert(surface, on_device); });
  }
  std::uint64_t scan_bytes() const override { return outcome_.data()->scan_bytes; }

  double device_microseconds() const override {
    const DeviceGuard guard(device_);
    float milliseconds = 0.0F;
    if (cudaEventElapsedTime(&milliseconds, begin_.get(), end_.get()) != cudaSuccess) return 0.0;
    return 1000.0 * static_cast<double>(milliseconds);
  }

  Status copy_scan(std::byte* out) const override {
    const DeviceGuard guard(device_);
    ZR_TRY(guard.status());
    ZR_TRY(clock_.mark(stream_.get(), DeviceStep::download));
    ZR_CUDA_TRY(
        cudaMemcpyAsync(out, scan_.data(), scan_bytes(), cudaMemcpyDeviceToHost, stream_.get()));
    ZR_TRY(clock_.mark(stream_.get(), std::nullopt));
    ZR_CUDA_TRY(cudaStreamSynchronize(stream_.get()));
    return clock_.collect(stream_.get());
  }

 private:
  static constexpr std::int64_t kLeastCapacity = 4096;
  /// Rows of converted pictures start at whole sectors.
  static constexpr std::size_t kPitchAlign = 128;

  /// After an error the device is done with the frame, too.
  template <typename Work>
  Status on_device(const Work& work) {
    const DeviceGuard guard(device_);
    ZR_TRY(guard.status());
    clock_.restart();
    Status done = work();
    if (!done) ignore_failure(cudaStreamSynchronize(stream_.get()));
    return done;
  }

  Status upload(const EncodeSetup& setup, const ConstFrameView& frame, ConstFrameView& uploaded) {
    uploaded_ = {};
    ZR_TRY(clock_.mark(stream_.get(), DeviceStep::upload));
    ZR_TRY(upload_.enqueue(frame, setup.layout.components, stream_.get(), uploaded));
    uploaded_ = uploaded;
    return Status::ok();
  }

  Status convert(const DeviceSurface& surface, ConstFrameView& on_device) {
    // The decoder's work is enqueued on the default stream, for which ours does not wait.
    ZR_TRY(clock_.mark(stream_.get(), std::nullopt));
    ZR_CUDA_TRY(cudaEventRecord(begin_.get(), cudaStreamLegacy));
    ZR_CUDA_TRY(cudaStreamWaitEvent(stream_.get(), begin_.get()));
    ZR_TRY(clock_.mark(stream_.get(), DeviceStep::kernels));
    FrameView planes{PixelFormat::yuv420p, surface.width, surface.height, {}, {}};
    const std::size_t bytes = place_planes(planes, nullptr, kPitchAlign);
    ZR_TRY(converted_.reserve(static_cast<std::int64_t>(bytes)));
    place_planes(planes, converted_.data(), kPitchAlign);
    on_device = planes;
    return convert_surface(surface, planes, stream_.get());
  }

  /// `bring(on_device)` enqueues what brings the frame to the device.
  template <typename Bring>
  Status encode(const EncodeSetup& setup, std::array<HuffmanSpec, 4>& specs, const Bring& bring) {
    ZR_TRY(code(setup, bring, [&](const auto&... of) { return run(setup, of...); }));
    if (setup.progressive) return Status::ok();  // all tables stand between the scans
    const bool optimal = setup.huffman == HuffmanTables::optimal;
    for (std::size_t t = 0; t < kEncodeTables; ++t)
      specs[t] = optimal ? outcome_.data()->specs[t] : (*setup.fixed_specs)[t];
    return Status::ok();
  }

  template <typename Bring>
  Result<SizedCoding> encode_sized(const EncodeParams& params, const EncodeSetup& setup,
                                   const Bring& bring) {
    const auto bring_it = [&](ConstFrameView& picture) -> Status {
      ZR_TRY(bring(picture));
      return sized_.set(params, setup);
    };
    ZR_TRY(code(setup, bring_it, [&](const auto&... of) { return run_sized(of...); }));
    return outcome_.data()->sized;
  }

  /// `run(picture, output)` codes the picture and waits for the device.
  template <typename Bring, typename Run>
  Status code(const EncodeSetup& setup, const Bring& bring, const Run& run) {
    outcome_.data()->scan_bytes = 0;
    return on_device([&]() -> Status {
      ConstFrameView picture;
      ZR_TRY(bring(picture));
      // A scan is hardly ever larger than its samples; one that is gets coded again.
      for (std::int64_t room = setup.layout.blocks() * kBlockSize + kLeastCapacity;;
           room = static_cast<std::int64_t>(scan_bytes())) {
        ZR_TRY(scan_.reserve(room));
        ZR_TRY(clock_.mark(stream_.get(), DeviceStep::kernels));
        ZR_CUDA_TRY(cudaEventRecord(begin_.get(), stream_.get()));
        const auto capacity = static_cast<std::uint64_t>(scan_.capacity());
        ZR_TRY(run(picture, FrameOutput{scan_.data(), capacity, &outcome_.data()->scan_bytes}));
        if (scan_bytes() <= capacity) return clock_.collect(stream_.get());
      }
    });
  }

  Status run(const EncodeSetup& setup, const ConstFrameView& frame, const FrameOutput& output) {
    ZR_TRY(encoder_.enqueue(setup, frame, output, stream_.get()));
    ZR_TRY(mark_end());
    if (setup.huffman == HuffmanTables::optimal && !setup.progressive)
      ZR_CUDA_TRY(cudaMemcpyAsync(outcome_.data()->specs, encoder_.specs(),
                                  sizeof outcome_.data()->specs, cudaMemcpyDeviceToHost,
                                  stream_.get()));
    return ZR_CUDA_STATUS(cudaStreamSynchronize(stream_.get()));
  }

  Status run_sized(const ConstFrameView& frame, const FrameOutput& output) {
    ZR_TRY(sized_.enqueue({frame, output}, &outcome_.data()->sized, stream_.get()));
    ZR_TRY(mark_end());
    return ZR_CUDA_STATUS(cudaStreamSynchronize(stream_.get()));
  }

  /// The end of the kernels.
  Status mark_end() {
    ZR_CUDA_TRY(cudaEventRecord(end_.get(), stream_.get()));
    return clock_.mark(stream_.get(), std::nullopt);
  }

  const int device_;
  Stream stream_;
  Event begin_, end_;        // around the kernels
  mutable SpanClock clock_;  // copies of the stream count too, and change nothing else
  FrameUpload upload_;
  ConstFrameView uploaded_;  // the frame of the last encode_scan(), on the device; or empty
  PinnedBuffer<FrameOutcome> outcome_;
  DeviceBuffer<std::uint8_t> scan_;
  DeviceBuffer<std::uint8_t> converted_;  // planes of a surface
  FrameEncoder encoder_;
  SizedEncoder sized_;
};

}  // namespace

Result<std::unique_ptr<EncodePipeline>> make_cuda_encode_pipeline(int device, int threads) {
  auto pipeline = std::make_unique<CudaEncodePipeline>(device, threads);
  ZR_TRY(pipeline->create());
  return std::unique_ptr<EncodePipeline>(std::move(pipeline));
}

}  // namespace zerorun
