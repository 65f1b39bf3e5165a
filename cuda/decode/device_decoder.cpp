// The public decoder for device frames: the pipeline on the caller's stream. Its C interface.
// SPDX-License-Identifier: MIT
#include "zerorun/cuda.hpp"

#include <utility>

#include "codec/base/pixel_rows.hpp"
#include "codec/capi/convert.hpp"
#include "codec/pipeline/decode_walk.hpp"
#include "cuda/decode/cuda_decode_pipeline.hpp"

namespace zerorun {
struct DeviceDecoder::Impl {
  /// As HostWindow, in device memory.
  class DeviceWindow {
   public:
    void use(cudaStream_t stream) { stream_ = stream; }
    Status reserve(PixelFormat format, int width, int height, FrameView& window) {
      window = {format, width, height, {}, {}};
      const std::size_t bytes = place_planes(window, nullptr, 128);
      ZR_TRY(memory_.reserve(static_cast<std::int64_t>(bytes)));
      place_planes(window, memory_.data(), 128);
      return Status::ok();
    }
    Status copy(const ImagePart& part, const FrameView& window, const FrameView& out) {
      for (int p = 0; p < plane_count(out.format); ++p) {
        const auto i = static_cast<std::size_t>(p);
        const PlaneOffset offset = region_offset(out.format, p, part.x, part.y);
        const std::uint8_t* in =
            window.data[i] + offset.rows * window.stride_bytes[i] + offset.bytes;
        const std::size_t bytes = plane_row_bytes(out.format, p, out.width);
        const int rows = plane_rows(out.format, p, out.height);
        // A frame may lie in memory from the last row to the first, which no copy of CUDA allows.
        const int at_once = out.stride_bytes[i] >= static_cast<std::ptrdiff_t>(bytes) ? rows : 1;
        for (std::ptrdiff_t y = 0; y < rows; y += at_once)
          ZR_CUDA_TRY(cudaMemcpy2DAsync(
              out.data[i] + y * out.stride_bytes[i],
              at_once == 1 ? bytes : static_cast<std::size_t>(out.stride_bytes[i]),
              in + y * window.stride_bytes[i], static_cast<std::size_t>(window.stride_bytes[i]),
              bytes, static_cast<std::size_t>(at_once), cudaMemcpyDeviceToDevice, stream_));
      }
      return Status::ok();
    }

   private:
    cudaStream_t stream_ = nullptr;
    DeviceBuffer<std::uint8_t> memory_;
  };

  explicit Impl(const DecodeParams& p) : params(p), pipeline(p.device, p.threads) {}
  ~Impl() {
    const DeviceGuard guard(params.device);
    if (used) ignore_failure(cudaEventSynchronize(done.get()));
  }

  DecodeParams params;
  PinnedBuffer<std::byte> host_copy;
  Event done;         ///< the end of the last image's work; the next one uses the same memory
  bool used = false;  ///< `done` is to be waited for
  DeviceWindow window;
  CudaDecodePipeline pipeline;

  /// `on_device`: `jpeg` is device memory.
  Result<DecodeReport> decode(std::span<const std::byte> jpeg, bool on_device, const FrameView& out,
                              cudaStream_t stream, const std::function<void()>& meanwhile) {
    const DeviceGuard guard(params.device);
    ZR_TRY(guard.status());
    ZR_TRY(validate(out));
    if (used) ZR_CUDA_TRY(cudaStreamWaitEvent(stream, done.get()));
    const auto* const device_jpeg =
        on_device ? reinterpret_cast<const std::uint8_t*>(jpeg.data()) : nullptr;
    if (on_device) {
      ZR_TRY(host_copy.reserve(static_cast<std::int64_t>(jpeg.size())));
      ZR_CUDA_TRY(cudaMemcpyAsync(host_copy.data(), jpeg.data(), jpeg.size(),
                                  cudaMemcpyDeviceToHost, stream));
      ZR_CUDA_TRY(cudaStreamSynchronize(stream));
      jpeg = {host_copy.data(), jpeg.size()};
    }
    pipeline.use_device_frames(stream, device_jpeg, &meanwhile);
    window.use(stream);
    auto report = walk_frame(
        pipeline, params, jpeg,
        [&](int width, int height, FrameView& target) {
          target = out;
          return check_frame_size(out, width, height);
        },
        [&](ColorModel model, ChromaUpsampling upsampling, const FrameView& frame) {
          return pipeline.finish_device_frame(model, upsampling, frame);
        },
        window);
    // This saves two CUDA calls for each image: this one, and the wait for the event.
    used = !report || !pipeline.is_idle() || !(params.region == Region());
    if (!used) return report;
    // After an error too: kernels may still run.
    const cudaError_t error = cudaEventRecord(done.get(), stream);
    if (report) ZR_CUDA_TRY(error);
    return report;
  }
};

Result<DeviceDecoder> DeviceDecoder::create(const DecodeParams& params) {
  return guarded([&]() -> Result<DeviceDecoder> {
    ZR_TRY(validate_params(params));
    if (params.backend == Backend::cpu)
      return Status(Errc::invalid_argument, "device frames cannot be decoded by the CPU backend");
    const auto backend = resolve_backend(Backend::cuda, params.device);
    if (!backend) return backend.status();
    const DeviceGuard guard(params.device);
    ZR_TRY(guard.status());
    auto impl = std::make_unique<Impl>(params);
    ZR_TRY(impl->done.create(cudaEventDisableTiming));
    ZR_TRY(impl->pipeline.create());
    return DeviceDecoder(std::move(impl));
  });
}

Status DeviceDecoder::select(int scale, const Region& region) {
  return guarded([&] {
    ZR_TRY(validate_part(scale, region));
    impl_->params.scale = scale;
    impl_->params.region = region;
    return Status::ok();
  });
}

Result<DecodeReport> DeviceDecoder::decode(std::span<const std::byte> jpeg, const FrameView& out,
                                           cudaStream_t stream) {
  return decode(jpeg, out, stream, {});
}

Result<DecodeReport> DeviceDecoder::decode(std::span<const std::byte> jpeg, const FrameView& out,
                                           cudaStream_t stream,
                                           const std::function<void()>& meanwhile) {
  return guarded([&] { return impl_->decode(jpeg, false, out, stream, meanwhile); });
}

Result<DecodeReport> DeviceDecoder::decode_device(const std::byte* jpeg, std::size_t bytes,
                                                  const FrameView& out, cudaStream_t stream) {
  return guarded([&]() -> Result<DecodeReport> {
    if (jpeg == nullptr) return Status(Errc::invalid_argument, "the stream is a null pointer");
    return impl_->decode({jpeg, bytes}, true, out, stream, {});
  });
}

DeviceDecoder::DeviceDecoder(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
DeviceDecoder::DeviceDecoder(DeviceDecoder&&) noexcept = default;
DeviceDecoder& DeviceDecoder::operator=(DeviceDecoder&&) noexcept = default;
DeviceDecoder::~DeviceDecoder() = default;
const DecodeParams& DeviceDecoder::params() const noexcept { return impl_->params; }

}  // namespace zerorun

using namespace zerorun;
using namespace zerorun::capi;

struct zerorun_device_decoder {
  DeviceDecoder object;
  zerorun_error error = make_error(Status::ok());
};

zerorun_status zerorun_device_decoder_create(const zerorun_decode_params* params,
                                             zerorun_device_decoder** out, zerorun_error* error) {
  return create_with<DeviceDecoder>(params, out, error);
}

void zerorun_device_decoder_destroy(zerorun_device_decoder* decoder) { delete decoder; }

zerorun_status zerorun_device_decoder_select(zerorun_device_decoder* decoder, int32_t scale,
                                             const zerorun_region* region) {
  return on_handle(decoder, [&] { return decoder->object.select(scale, to_region(region)); });
}

namespace {

/// `is_missing`: the stream is null, which the caller names `name`.
template <typename Decode>
zerorun_status decode_with(zerorun_device_decoder* decoder, bool is_missing, const char* name,
                           const zerorun_frame* out, zerorun_decode_report* report,
                           const Decode& decode) {
  return on_handle(decoder, [&]() -> Status {
    if (is_missing) return null_argument(name);
    const auto view = to_view(out);
    if (!view) return view.status();
    const Result<DecodeReport> done = decode(*view);
    if (!done) return done.status();
    write_struct(from_report(*done), report);
    return Status::ok();
  });
}

}  // namespace

zerorun_status zerorun_device_decoder_decode(zerorun_device_decoder* decoder, const void* jpeg,
                                             std::size_t size, const zerorun_frame* out,
                                             void* stream, zerorun_decode_report* report) {
  return decode_with(decoder, jpeg == nullptr && size > 0, "jpeg", out, report,
                     [&](const FrameView& view) {
                       return decoder->object.decode({static_cast<const std::byte*>(jpeg), size},
                                                     view, static_cast<cudaStream_t>(stream));
                     });
}

zerorun_status zerorun_device_decoder_decode_device(zerorun_device_decoder* decoder,
                                                    const void* device_jpeg, std::size_t size,
                                                    const zerorun_frame* out, void* stream,
                                                    zerorun_decode_report* report) {
  return decode_with(
      decoder, device_jpeg == nullptr, "device_jpeg", out, report, [&](const FrameView& view) {
        return decoder->object.decode_device(static_cast<const std::byte*>(device_jpeg), size, view,
                                             static_cast<cudaStream_t>(stream));
      });
}

const zerorun_error* zerorun_device_decoder_error(const zerorun_device_decoder* decoder) {
  return error_of(decoder);
}
