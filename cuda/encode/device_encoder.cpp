// The public encoder for device frames: the frame encoder on the caller's stream. Its C interface.
// SPDX-License-Identifier: MIT
#include "zerorun/cuda.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "codec/capi/convert.hpp"
#include "codec/pipeline/encode_pipeline.hpp"
#include "cuda/base/memory.hpp"
#include "cuda/base/this_device.hpp"
#include "cuda/encode/batch_to_host.hpp"
#include "cuda/encode/sized_encoder.hpp"

namespace zerorun {

struct DeviceEncoder::Impl {
  static FrameJob to_frame_job(const DeviceEncodeJob& job) {
    static_assert(sizeof(std::size_t) == sizeof(std::uint64_t));
    return {job.frame,
            {reinterpret_cast<std::uint8_t*>(job.out), job.capacity,
             reinterpret_cast<std::uint64_t*>(job.size)}};
  }

  /// An encoder whose frames follow each other.
  struct FrameQueue {
    FrameEncoder encoder;
    SizedEncoder sized;                // instead, where the parameters have a size
    std::optional<EncodeSetup> setup;  // of the last frame's shape
    Event done;                        // behind the last frame: the next one uses the same memory
    bool used = false;
    unsigned long long last_stream = 0;  // of the last frame: only another one waits for it

    ~FrameQueue() {
      if (used) ignore_failure(cudaEventSynchronize(done.get()));
    }

    Status enqueue_behind_last(const EncodeParams& wanted, std::span<const DeviceEncodeJob> jobs,
                               cudaStream_t stream) {
      unsigned long long id = 0;
      ZR_CUDA_TRY(cudaStreamGetId(stream, &id));
      if (used && id != last_stream) ZR_CUDA_TRY(cudaStreamWaitEvent(stream, done.get()));
      last_stream = id;
      const Status enqueued = enqueue(wanted, jobs, stream);
      // After an error too, because some kernels may be under way.
      const cudaError_t error = cudaEventRecord(done.get(), stream);
      used = true;
      if (!enqueued) return enqueued;
      return ZR_CUDA_STATUS(error);
    }

    bool is_prepared(const ConstFrameView& frame) const {
      return setup && same_size(*setup, frame);
    }

   private:
    /// Frames of one shape that follow each other are enqueued together.
    Status enqueue(const EncodeParams& wanted, std::span<const DeviceEncodeJob> jobs,
                   cudaStream_t stream) {
      while (!jobs.empty()) {
        ZR_TRY(prepare(wanted, jobs.front().frame));
        if (wanted.size.any()) {
          ZR_TRY(sized.enqueue(to_frame_job(jobs.front()), nullptr, stream));
          jobs = jobs.subspan(1);
          continue;
        }
        const auto most = static_cast<std::size_t>(frames_of_launch(setup->layout.blocks()));
        std::array<FrameJob, kMaxFrames> alike;
        std::size_t count = 0;
        for (; count < std::min(most, jobs.size()) && is_prepared(jobs[count].frame); ++count)
          alike[count] = to_frame_job(jobs[count]);
        ZR_TRY(encoder.enqueue(*setup, {alike.data(), count}, stream));
        jobs = jobs.subspan(count);
      }
      return Status::ok();
    }

    Status prepare(const EncodeParams& wanted, const ConstFrameView& frame) {
      if (is_prepared(frame)) return Status::ok();
      setup.reset();
      auto fresh = make_encode_setup(wanted, frame.format, frame.width, frame.height);
      if (!fresh) return fresh.status();
      if (wanted.size.any())
        ZR_TRY(sized.set(wanted, *fresh));
      else
        encoder.set_header(wanted, *fresh);
      setup = *fresh;
      return Status::ok();
    }
  };

  explicit Impl(const EncodeParams& p) : params(p), to_host(p.threads) {}

  EncodeParams params;
  std::array<FrameQueue, BatchToHost::kCoders> queues;  // all but the first for batches to the host
  BatchToHost to_host;

  Status encode(std::span<const DeviceEncodeJob> jobs, cudaStream_t stream) {
    const ConstFrameView* checked = nullptr;
    for (const DeviceEncodeJob& job : jobs) ZR_TRY(check(job.frame, checked));
    for (const DeviceEncodeJob& job : jobs)
      if (job.out == nullptr || job.size == nullptr)
        return Status(Errc::invalid_argument, "the output or its size is null");
    if (jobs.empty()) return Status::ok();
    const DeviceGuard guard(params.device);
    ZR_TRY(guard.status());
    ZR_TRY(check_stream(stream));
    return queues[0].enqueue_behind_last(params, jobs, stream);
  }

  Status encode_to_host(std::span<const ConstFrameView> frames, const StreamMemory& memory,
                        cudaStream_t stream) {
    if (!memory) return Status(Errc::invalid_argument, "the function that gives memory is empty");
    const ConstFrameView* checked = nullptr;
    for (const ConstFrameView& frame : frames) ZR_TRY(check(frame, checked));
    if (frames.empty()) return Status::ok();
    const DeviceGuard guard(params.device);
    ZR_TRY(guard.status());
    ZR_TRY(check_stream(stream));
    const auto encode = [this](std::span<const DeviceEncodeJob> jobs, std::size_t coder,
                               cudaStream_t on) {
      return queues[coder].enqueue_behind_last(params, jobs, on);
    };
    return to_host.run(frames, memory, encode, stream);
  }

 private:
  /// Finds what is wrong before anything is enqueued. `checked`: a frame whose shape was checked.
  Status check(const ConstFrameView& frame, const ConstFrameView*& checked) const {
    ZR_TRY(validate(frame));
    if (queues[0].is_prepared(frame) || (checked != nullptr && same_size(*checked, frame)))
      return Status::ok();
    const auto fresh = make_encode_setup(params, frame.format, frame.width, frame.height);
    if (!fresh) return fresh.status();
    checked = &frame;
    return FrameEncoder::check_size(fresh->layout);
  }

  static Status check_stream(cudaStream_t stream) {
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    ZR_CUDA_TRY(cudaStreamIsCapturing(stream, &capture));
    if (capture == cudaStreamCaptureStatusNone) return Status::ok();
    return Status(Errc::invalid_argument,
                  "the stream is being captured; the encoder uses other memory for every second "
                  "frame, so that a captured call could not be replayed");
  }
};

Result<DeviceEncoder> DeviceEncoder::create(const EncodeParams& params) {
  return guarded([&]() -> Result<DeviceEncoder> {
    ZR_TRY(validate_params(params));
    if (params.size.is_of_quality())
      return Status(Errc::invalid_argument,
                    "the encoder of device frames reaches sizes, but no PSNR and SSIM, because "
                    "these are found on the host; Encoder and AsyncEncoder do it with frames in "
                    "host memory");
    if (params.progressive && params.size.any())
      return Status(Errc::invalid_argument,
                    "the encoder of device frames reaches no sizes with progressive streams; "
                    "Encoder and AsyncEncoder do it with frames in host memory");
    if (params.backend == Backend::cpu)
      return Status(Errc::invalid_argument, "the CPU backend cannot code device frames");
    const auto backend = resolve_backend(Backend::cuda, params.device);
    if (!backend) return backend.status();
    const DeviceGuard guard(params.device);
    ZR_TRY(guard.status());
    ZR_TRY(current_limits().status());
    auto impl = std::make_unique<Impl>(params);
    for (auto& queue : impl->queues) ZR_TRY(queue.done.create(cudaEventDisableTiming));
    return DeviceEncoder(std::move(impl));
  });
}

Status DeviceEncoder::encode(const ConstFrameView& frame, std::byte* out, std::size_t capacity,
                             std::size_t* size, cudaStream_t stream) {
  const DeviceEncodeJob job{frame, out, capacity, size};
  return encode_batch({&job, 1}, stream);
}

Status DeviceEncoder::encode_batch(std::span<const DeviceEncodeJob> jobs, cudaStream_t stream) {
  return guarded([&] { return impl_->encode(jobs, stream); });
}

Status DeviceEncoder::encode_to_host(std::span<const ConstFrameView> frames,
                                     const StreamMemory& memory, cudaStream_t stream) {
  return guarded([&] { return impl_->encode_to_host(frames, memory, stream); });
}

DeviceEncoder::DeviceEncoder(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
DeviceEncoder::DeviceEncoder(DeviceEncoder&&) noexcept = default;
DeviceEncoder& DeviceEncoder::operator=(DeviceEncoder&&) noexcept = default;
DeviceEncoder::~DeviceEncoder() = default;
const EncodeParams& DeviceEncoder::params() const noexcept { return impl_->params; }

}  // namespace zerorun

// The C interface.

using namespace zerorun;
using namespace zerorun::capi;

struct zerorun_device_encoder {
  DeviceEncoder encoder;
  zerorun_error error = make_error(Status::ok());
};

zerorun_status zerorun_device_encoder_create(const zerorun_encode_params* params,
                                             zerorun_device_encoder** out, zerorun_error* error) {
  return create_handle(out, error, [&]() -> Result<DeviceEncoder> {
    const auto wanted = to_params(params);
    if (!wanted) return wanted.status();
    return DeviceEncoder::create(*wanted);
  });
}

void zerorun_device_encoder_destroy(zerorun_device_encoder* encoder) { delete encoder; }

zerorun_status zerorun_device_encoder_encode(zerorun_device_encoder* encoder,
                                             const zerorun_frame* frame, std::uint8_t* out,
                                             std::size_t capacity, std::size_t* device_size,
                                             void* stream) {
  return on_handle(encoder, [&]() -> Status {
    if (out == nullptr || device_size == nullptr) return null_argument("out or device_size");
    const auto view = to_view(frame);
    if (!view) return view.status();
    return encoder->encoder.encode(*view, reinterpret_cast<std::byte*>(out), capacity, device_size,
                                   static_cast<cudaStream_t>(stream));
  });
}

zerorun_status zerorun_device_encoder_encode_batch(zerorun_device_encoder* encoder,
                                                   std::size_t count,
                                                   const zerorun_frame* const* frames,
                                                   std::uint8_t* const* outs,
                                                   const std::size_t* capacities,
                                                   std::size_t* const* device_sizes, void* stream) {
  return on_handle(encoder, [&]() -> Status {
    if (count > 0 &&
        (frames == nullptr || outs == nullptr || capacities == nullptr || device_sizes == nullptr))
      return null_argument("frames, outs, capacities or device_sizes");
    std::vector<DeviceEncodeJob> jobs;
    for (std::size_t i = 0; i < count; ++i) {
      const auto view = to_view(frames[i]);
      if (!view) return view.status();
      jobs.push_back(
          {*view, reinterpret_cast<std::byte*>(outs[i]), capacities[i], device_sizes[i]});
    }
    return encoder->encoder.encode_batch(jobs, static_cast<cudaStream_t>(stream));
  });
}

zerorun_status zerorun_device_encoder_encode_to_host(zerorun_device_encoder* encoder,
                                                     std::size_t count,
                                                     const zerorun_frame* const* frames,
                                                     zerorun_stream_memory memory, void* user,
                                                     void* stream) {
  return on_handle(encoder, [&]() -> Status {
    if (memory == nullptr || (count > 0 && frames == nullptr))
      return null_argument("frames or memory");
    std::vector<ConstFrameView> views;
    for (std::size_t i = 0; i < count; ++i) {
      const auto view = to_view(frames[i]);
      if (!view) return view.status();
      views.push_back(*view);
    }
    std::vector<zerorun_encoded_stream> given;
    const auto give = [&](std::span<EncodedStream> streams) -> Status {
      given.clear();
      for (const EncodedStream& s : streams) given.push_back({s.frame, s.bytes, nullptr});
      const zerorun_status status = memory(user, given.data(), given.size());
      if (status != ZERORUN_OK)
        return Status(static_cast<Errc>(status), "the function that gives memory ended the batch");
      for (std::size_t i = 0; i < given.size(); ++i)
        streams[i].out = reinterpret_cast<std::byte*>(given[i].out);
      return Status::ok();
    };
    return encoder->encoder.encode_to_host(views, give, static_cast<cudaStream_t>(stream));
  });
}

const zerorun_error* zerorun_device_encoder_error(const zerorun_device_encoder* encoder) {
  return encoder == nullptr ? nullptr : &encoder->error;
}
