// The steps of the product's kernels, one after another.
// SPDX-License-Identifier: MIT
#include <fmt/core.h>

#include <utility>

#include "apps/bench/measure/device.hpp"
#include "apps/bench/measure/host_coders.hpp"
#include "zerorun/cuda.hpp"

namespace zerorun::app::bench {
namespace {

/// Encodes every frame once and compares the streams with those of the CPU.
Result<RunSteps> open_fused_encoder(const Setting& setting, int device) {
  std::shared_ptr<StepEncoder> encoder;
  SharedDeviceFrames frames;
  auto out = std::make_shared<CudaArray<std::byte>>();
  ZR_TRY(store(DeviceFrames::upload(setting.frames, device), frames));
  ZR_TRY(store(
      make_step_encoder(StepWay::cuda_fused, encode_params(setting.what, Backend::cuda, device),
                        setting.frames.view(0)),
      encoder));
  ZR_TRY(out->allocate(setting.reference.largest, CudaMemory::device));
  const auto encode = [=](std::size_t index, std::vector<StepTime>& steps) {
    return encoder->encode(frames->view(index), {out->data(), out->size()}, steps);
  };
  std::vector<StepTime> unused;
  for (std::size_t i = 0; i < setting.frames.size(); ++i) {
    const auto size = encode(i, unused);
    if (!size) return size.status();
    const std::vector<std::byte>& wanted = setting.reference.streams[i];
    std::vector<std::byte> made(wanted.size());
    ZR_CUDA_TRY(cudaMemcpy(made.data(), out->data(), made.size(), cudaMemcpyDeviceToHost));
    if (*size != wanted.size() || made != wanted) return differs_from_cpu(i);
  }
  return RunSteps([encode](std::size_t index, std::vector<StepTime>& steps) {
    return encode(index, steps).status();
  });
}

/// Decodes every stream once and compares the samples with those of the CPU.
Result<RunSteps> open_fused_decoder(const Setting& setting, int device) {
  std::shared_ptr<StepDecoder> decoder;
  SharedHostData data;
  SharedDeviceFrames frames;
  ZR_TRY(store(HostData::make(setting, HostMemory::pinned), data));
  ZR_TRY(store(DeviceFrames::overlaid(setting.frames, device), frames));
  ZR_TRY(store(make_step_decoder(StepWay::cuda_fused, decode_params(Backend::cuda, device),
                                 setting.frames.view(0)),
               decoder));
  const RunSteps decode = [=](std::size_t index, std::vector<StepTime>& steps) {
    return decoder->decode(data->stream(index), frames->view(index), steps);
  };
  std::vector<StepTime> unused;
  PaddedFrame decoded;
  for (std::size_t i = 0; i < setting.frames.size(); ++i) {
    ZR_TRY(decode(i, unused));
    const ConstFrameView wanted = reference_picture(setting.frames, setting.reference, i);
    ZR_TRY(decoded.reshape(wanted.format, wanted.width, wanted.height));
    ZR_TRY(frames->download(i, decoded.view()));
    if (!same_samples(wanted, std::as_const(decoded).view())) return differs_from_cpu(i);
  }
  return decode;
}

}  // namespace

Status add_fused_steps(const Setting& setting, Coders& coders) {
  for (const int device : setting.selection.cuda) {
    const bool encode = setting.what.encodes();
    Coder& coder = coders.emplace_back();
    coder.name = "zerorun-fused";
    coder.device = fmt::format("cuda:{}", device);
    coder.path = encode ? "device>device" : "pinned>device";
    coder.open_steps = [&setting, encode, device] {
      return encode ? open_fused_encoder(setting, device) : open_fused_decoder(setting, device);
    };
  }
  return Status::ok();
}

}  // namespace zerorun::app::bench
