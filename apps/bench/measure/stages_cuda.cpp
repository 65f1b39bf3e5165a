// The staged CUDA pipelines from pinned to pinned host memory, with an event in front of each stage
// and each copy.
// SPDX-License-Identifier: MIT
#include <fmt/core.h>

#include <utility>

#include "apps/bench/measure/device_lanes.hpp"
#include "apps/bench/measure/event_log.hpp"
#include "apps/bench/measure/stages.hpp"
#include "codec/pipeline/decode_walk.hpp"
#include "codec/pipeline/encode_setup.hpp"
#include "cuda/decode/cuda_decode_pipeline.hpp"
#include "cuda/stages/staged_encoder.hpp"

namespace zerorun::app::bench {
namespace {

/// What both directions need.
struct StagedRun {
  int device;
  SharedHostData data;
  SharedDeviceFrames frame;  ///< one, of the case's shape
  Stream queue;
  EventLog log;

  Status create(const Setting& setting) {
    auto pinned = HostData::make(setting, HostMemory::pinned);
    if (!pinned) return pinned.status();
    data = *std::move(pinned);
    auto on_device = DeviceFrames::upload(setting.frames, 1, device);
    if (!on_device) return on_device.status();
    frame = *std::move(on_device);
    return queue.create();
  }
  Status mark(const char* stage) { return log.mark(queue.get(), stage); }
  Status finish(StageClock& clock) {
    ZR_CUDA_TRY(cudaStreamSynchronize(queue.get()));
    return log.read(clock);
  }
};

struct StagedEncodeRun : StagedRun {
  EncodeSetup setup;
  StagedEncoder encoder;
  HostBuffer out{HostMemory::pinned};

  Status run(std::size_t index, StageClock& clock) {
    const DeviceGuard guard(device);
    ZR_TRY(guard.status());
    ZR_TRY(mark("upload"));
    ZR_TRY(copy_frame_async(data->frame(index), frame->view(0), queue.get()));
    ZR_TRY(encoder.enqueue(setup, frame->view(0), queue.get(), [this](const char* stage) {
      return mark(*stage == '\0' ? "size to the host" : stage);
    }));
    std::uint64_t bytes = 0;
    ZR_CUDA_TRY(cudaMemcpyAsync(&bytes, encoder.arrays().scan_bytes, sizeof bytes,
                                cudaMemcpyDeviceToHost, queue.get()));
    ZR_CUDA_TRY(cudaStreamSynchronize(queue.get()));
    ZR_TRY(out.resize(bytes));
    ZR_TRY(mark("download"));
    ZR_CUDA_TRY(cudaMemcpyAsync(out.data(), encoder.arrays().scan, bytes, cudaMemcpyDeviceToHost,
                                queue.get()));
    ZR_TRY(mark("end"));
    return finish(clock);
  }
};

struct StagedDecodeRun : StagedRun {
  CudaDecodePipeline pipeline{device, ScanDecoders::careful_only};
  Frame out;

  Status run(std::size_t index, StageClock& clock) {
    const DeviceGuard guard(device);
    ZR_TRY(guard.status());
    const auto report = walk_frame(
        pipeline, decode_params(Backend::cuda, device), data->stream(index),
        [&](int, int, FrameView& target) {
          target = frame->view(0);
          return Status::ok();
        },
        [&](ColorModel model, ChromaUpsampling upsampling, const FrameView& target) -> Status {
          ZR_TRY(mark("color_upsample"));
          ZR_TRY(pipeline.finish_device_frame(model, upsampling, target));
          ZR_TRY(mark("download"));
          ZR_TRY(copy_frame_async(target, out.view(), queue.get()));
          return mark("end");
        });
    if (!report) return report.status();
    return finish(clock);
  }
};

Result<StagedContender::Run> open_encoder(const Setting& setting, int device) {
  const DeviceGuard guard(device);
  ZR_TRY(guard.status());
  const ConstFrameView like = setting.frames.view(0);
  auto run = std::make_shared<StagedEncodeRun>();
  run->device = device;
  ZR_TRY(run->create(setting));
  ZR_TRY(run->out.reserve(setting.reference.largest));
  auto setup = make_encode_setup(encode_params(setting.what), like.format, like.width, like.height);
  if (!setup) return setup.status();
  run->setup = *std::move(setup);
  return StagedContender::Run(
      [run](std::size_t index, StageClock& clock) { return run->run(index, clock); });
}

Result<StagedContender::Run> open_decoder(const Setting& setting, int device) {
  const DeviceGuard guard(device);
  ZR_TRY(guard.status());
  const ConstFrameView like = setting.frames.view(0);
  auto run = std::make_shared<StagedDecodeRun>(StagedRun{device, {}, {}, {}, {}});
  ZR_TRY(run->create(setting));
  ZR_TRY(run->pipeline.create());
  auto frame = Frame::create(like.format, like.width, like.height, HostMemory::pinned);
  if (!frame) return frame.status();
  run->out = *std::move(frame);
  run->pipeline.use_device_frames(run->queue.get(), nullptr);
  run->pipeline.observe([state = run.get()](const char* step) {
    return state->mark(*step == '\0' ? "outcome to the host" : step);
  });
  return StagedContender::Run(
      [run](std::size_t index, StageClock& clock) { return run->run(index, clock); });
}

}  // namespace

void add_staged_cuda(const Setting& setting, std::vector<StagedContender>& out) {
  const bool encode = setting.what.operation == Operation::encode;
  for (const int device : setting.selection.cuda)
    out.push_back({"zerorun-staged", fmt::format("cuda:{}", device), "pinned>pinned",
                   [&setting, encode, device] {
                     return encode ? open_encoder(setting, device) : open_decoder(setting, device);
                   }});
}

}  // namespace zerorun::app::bench
