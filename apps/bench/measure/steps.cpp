// Rows with the time of each stage: the CPU pipelines, and the staged kernels on a GPU.
// SPDX-License-Identifier: MIT
#include <fmt/core.h>

#include <utility>

#include "apps/bench/measure/host_coders.hpp"

namespace zerorun::app::bench {
namespace {

Result<RunSteps> open_encoder(const Setting& setting, StepWay way, EncodeParams params,
                              SharedHostData data) {
  std::shared_ptr<StepEncoder> encoder;
  ZR_TRY(store(make_step_encoder(way, params, setting.frames.view(0)), encoder));
  auto out = std::make_shared<HostBuffer>(data->memory());
  ZR_TRY(out->resize(data->largest_stream()));
  return RunSteps([=](std::size_t index, std::vector<StepTime>& steps) {
    return encoder->encode(data->frame(index), {out->data(), out->size()}, steps).status();
  });
}

Result<RunSteps> open_decoder(const Setting& setting, StepWay way, DecodeParams params,
                              SharedHostData data) {
  const ConstFrameView like = setting.frames.view(0);
  std::shared_ptr<StepDecoder> decoder;
  ZR_TRY(store(make_step_decoder(way, params, like), decoder));
  auto out = std::make_shared<Frame>(data->memory());
  ZR_TRY(out->reshape(like.format, like.width, like.height));
  return RunSteps([=](std::size_t index, std::vector<StepTime>& steps) {
    return decoder->decode(data->stream(index), out->view(), steps);
  });
}

Result<RunSteps> open(const Setting& setting, StepWay way, int device) {
  const bool on_cpu = way == StepWay::cpu;
  const Backend backend = on_cpu ? Backend::cpu : Backend::cuda;
  SharedHostData data;
  ZR_TRY(store(HostData::make(setting, on_cpu ? HostMemory::pageable : HostMemory::pinned), data));
  return setting.what.encodes()
             ? open_encoder(setting, way, encode_params(setting.what, backend, device), data)
             : open_decoder(setting, way, decode_params(backend, device), data);
}

}  // namespace

Status add_steps(const Setting& setting, Coders& coders) {
  const auto add = [&](const char* name, std::string device, const char* path, StepWay way,
                       int number) {
    Coder& coder = coders.emplace_back();
    coder.name = name;
    coder.device = std::move(device);
    coder.path = path;
    coder.open_steps = [&setting, way, number] { return open(setting, way, number); };
  };
  for (const int device : setting.selection.cuda)
    add("zerorun-staged", fmt::format("cuda:{}", device), "pinned>pinned", StepWay::cuda_staged,
        device);
  if (setting.selection.cpu) add("zerorun", "cpu", "host>host", StepWay::cpu, 0);
  return Status::ok();
}

}  // namespace zerorun::app::bench
