// The fused encoder from planes to a stream in device memory, and the fused decoder from a stream
// in pinned memory to a device frame, with an event before each kernel. The kernels are launched so
// that one begins while the one before it ends; an event between them takes that away, so the sum
// lies above the time of a frame.
// SPDX-License-Identifier: MIT
#include <fmt/core.h>

#include <utility>

#include "apps/bench/measure/device_lanes.hpp"
#include "apps/bench/measure/event_log.hpp"
#include "apps/bench/measure/stages.hpp"
#include "apps/bench/measure/verify.hpp"
#include "codec/pipeline/decode_walk.hpp"
#include "codec/pipeline/encode_setup.hpp"
#include "cuda/decode/cuda_decode_pipeline.hpp"
#include "cuda/encode/frame_encoder.hpp"

namespace zerorun::app::bench {
namespace {

class FusedEncodeRun {
 public:
  FusedEncodeRun(const Setting& setting, int device) : setting_(setting), device_(device) {}

  Status create() {
    const EncodeParams params = encode_params(setting_.what);
    const ConstFrameView like = setting_.frames.view(0);
    auto setup = make_encode_setup(params, like.format, like.width, like.height);
    if (!setup) return setup.status();
    setup_ = *std::move(setup);
    encoder_.set_header(params, setup_);
    auto frames = DeviceFrames::upload(setting_.frames, setting_.frames.size(), device_);
    if (!frames) return frames.status();
    frames_ = *std::move(frames);
    ZR_TRY(out_.reserve(static_cast<std::int64_t>(setting_.reference.largest)));
    ZR_TRY(size_.reserve(1));
    return queue_.create();
  }

  Status run(std::size_t index, StageClock& clock) {
    const DeviceGuard guard(device_);
    ZR_TRY(guard.status());
    const FrameOutput output{out_.data(), static_cast<std::uint64_t>(out_.capacity()),
                             size_.data()};
    ZR_TRY(encoder_.enqueue(setup_, frames_->view(index), output, queue_.get(),
                            [this](const char* step) {
                              return log_.mark(queue_.get(), *step == '\0' ? "end" : step);
                            }));
    ZR_CUDA_TRY(cudaStreamSynchronize(queue_.get()));
    return log_.read(clock);
  }

  /// Every frame's stream against the CPU's.
  Status check() {
    StageClock unused;
    for (std::size_t i = 0; i < setting_.frames.size(); ++i) {
      ZR_TRY(run(i, unused));
      std::uint64_t size = 0;
      ZR_CUDA_TRY(cudaMemcpy(&size, size_.data(), sizeof size, cudaMemcpyDeviceToHost));
      const std::vector<std::byte>& wanted = setting_.reference.streams[i];
      std::vector<std::byte> made(wanted.size());
      ZR_CUDA_TRY(cudaMemcpy(made.data(), out_.data(), made.size(), cudaMemcpyDeviceToHost));
      if (size != wanted.size() || made != wanted)
        return Status(Errc::verify_mismatch, fmt::format("frame {} differs from the CPU's", i));
    }
    return Status::ok();
  }

 private:
  const Setting& setting_;
  int device_;
  EncodeSetup setup_{};
  SharedDeviceFrames frames_;
  DeviceBuffer<std::uint8_t> out_;
  DeviceBuffer<std::uint64_t> size_;
  Stream queue_;
  EventLog log_;
  FrameEncoder encoder_;
};

class FusedDecodeRun {
 public:
  FusedDecodeRun(const Setting& setting, int device)
      : setting_(setting), device_(device), pipeline_(device) {}

  Status create() {
    auto data = HostData::make(setting_, HostMemory::pinned);
    if (!data) return data.status();
    data_ = *std::move(data);
    auto frames = DeviceFrames::overlaid(setting_.frames, device_);
    if (!frames) return frames.status();
    frames_ = *std::move(frames);
    ZR_TRY(queue_.create());
    ZR_TRY(pipeline_.create());
    pipeline_.use_device_frames(queue_.get(), nullptr);
    pipeline_.observe(
        [this](const char* step) { return mark(*step == '\0' ? "outcome to the host" : step); });
    return Status::ok();
  }

  Status run(std::size_t index, StageClock& clock) {
    const DeviceGuard guard(device_);
    ZR_TRY(guard.status());
    const auto report = walk_frame(
        pipeline_, decode_params(Backend::cuda, device_), data_->stream(index),
        [&](int, int, FrameView& target) {
          target = frames_->view(index);
          return Status::ok();
        },
        [&](ColorModel model, ChromaUpsampling upsampling, const FrameView& target) -> Status {
          ZR_TRY(mark("color_upsample"));
          ZR_TRY(pipeline_.finish_device_frame(model, upsampling, target));
          return mark("end");
        });
    if (!report) return report.status();
    ZR_CUDA_TRY(cudaStreamSynchronize(queue_.get()));
    return log_.read(clock);
  }

  /// Every frame's samples against the CPU's.
  Status check() {
    StageClock unused;
    for (std::size_t i = 0; i < setting_.frames.size(); ++i) {
      ZR_TRY(run(i, unused));
      ZR_TRY(compare(i));
    }
    return Status::ok();
  }

 private:
  Status mark(const char* step) { return log_.mark(queue_.get(), step); }

  Status compare(std::size_t index) {
    const ConstFrameView wanted = reference_picture(setting_.frames, setting_.reference, index);
    ZR_TRY(decoded_.reshape(wanted.format, wanted.width, wanted.height));
    ZR_TRY(frames_->download(index, decoded_.view()));
    if (!same_samples(wanted, std::as_const(decoded_).view()))
      return Status(Errc::verify_mismatch, fmt::format("frame {} differs from the CPU's", index));
    return Status::ok();
  }

  const Setting& setting_;
  int device_;
  SharedHostData data_;
  SharedDeviceFrames frames_;
  PaddedFrame decoded_;
  Stream queue_;
  EventLog log_;
  CudaDecodePipeline pipeline_;
};

template <typename FusedRun>
Result<StagedContender::Run> open(const Setting& setting, int device) {
  const DeviceGuard guard(device);
  ZR_TRY(guard.status());
  auto run = std::make_shared<FusedRun>(setting, device);
  ZR_TRY(run->create());
  ZR_TRY(run->check());
  return StagedContender::Run(
      [run](std::size_t index, StageClock& clock) { return run->run(index, clock); });
}

}  // namespace

void add_fused_cuda(const Setting& setting, std::vector<StagedContender>& out) {
  const bool encode = setting.what.operation == Operation::encode;
  for (const int device : setting.selection.cuda)
    out.push_back({"zerorun-fused", fmt::format("cuda:{}", device),
                   encode ? "device>device" : "pinned>device", [&setting, encode, device] {
                     return encode ? open<FusedEncodeRun>(setting, device)
                                   : open<FusedDecodeRun>(setting, device);
                   }});
}

}  // namespace zerorun::app::bench
