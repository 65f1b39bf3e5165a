// zerorun's coders on a GPU, from and to device and host memory; the plain copies that nothing on
// these paths can beat; and the steps of the product's kernels.
// SPDX-License-Identifier: MIT
#include <fmt/core.h>
#include <fmt/format.h>

#include <optional>
#include <utility>

#include "apps/bench/measure/device.hpp"
#include "apps/bench/measure/host_coders.hpp"
#include "zerorun/cuda.hpp"

namespace zerorun::app::bench {
namespace {

/// Bytes of the copy in device memory: far more than any cache holds.
constexpr std::size_t kCopyBytes = std::size_t{512} << 20;

/// Streams in host memory, pinned or not, to device frames.
class DecodeRunner final : public DeviceRunner {
 public:
  /// `like` outlives the runner.
  DecodeRunner(const DecodeParams& params, const FrameSet* like, SharedHostData data)
      : DeviceRunner(params.device), params_(params), like_(like), data_(std::move(data)) {}

  Status open() override {
    ZR_TRY(DeviceRunner::open());
    ZR_TRY(store(DeviceDecoder::create(params_), decoder_));
    return store(DeviceFrames::overlaid(*like_, params_.device), frames_);
  }
  Status start(std::size_t index) override {
    last_ = index;
    return decoder_->decode(data_->stream(index), frames_->view(index), cuda_stream()).status();
  }
  Status picture(std::size_t /*place*/, const FrameView& out) override {
    return frames_->download(last_, out);
  }

 private:
  const DecodeParams params_;
  const FrameSet* const like_;
  SharedHostData data_;
  std::optional<DeviceDecoder> decoder_;
  SharedDeviceFrames frames_;
  std::size_t last_ = 0;
};

/// Plain copies over the bus and in device memory.
class CopyRunner : public DeviceRunner {
 public:
  CopyRunner(int device, CudaMemory from, CudaMemory to, std::size_t bytes)
      : DeviceRunner(device), from_memory_(from), to_memory_(to), bytes_(bytes) {}

  Status open() override {
    ZR_TRY(DeviceRunner::open());
    ZR_TRY(from_.allocate(bytes_, from_memory_));
    return to_.allocate(bytes_, to_memory_);
  }
  Status start(std::size_t) override {
    ZR_CUDA_TRY(
        cudaMemcpyAsync(to_.data(), from_.data(), bytes_, cudaMemcpyDefault, cuda_stream()));
    return Status::ok();
  }

 private:
  const CudaMemory from_memory_, to_memory_;
  const std::size_t bytes_;
  CudaArray<std::byte> from_, to_;
};

/// For a thread of its own: one copy after another.
class PacedCopyRunner final : public CopyRunner {
 public:
  using CopyRunner::CopyRunner;
  Status start(std::size_t index) override {
    ZR_TRY(CopyRunner::start(index));
    return finish();
  }
};

void add_copy(const Setting& setting, int device, const char* path, CudaMemory from, CudaMemory to,
              std::size_t bytes, Coders& coders) {
  Coder& coder = coders.emplace_back(our_device_coder(setting, device, path));
  coder.name = "copy";
  coder.drive = Drive::one_thread;
  coder.at_once = {1};
  coder.ours = false;
  coder.copied_bytes = bytes;
  coder.open = runner_of<CopyRunner>(device, from, to, bytes);
}

/// The latency by Encoder, the throughput by AsyncEncoder.
void add_host_encoders(const Setting& setting, int device, const char* path,
                       const SharedHostData& data, Coders& coders) {
  const EncodeParams params = encode_params(setting.what, Backend::cuda, device);
  Coder& alone = coders.emplace_back(our_device_coder(setting, device, path));
  alone.at_once.clear();
  alone.open = host_encoder(params, data);
  coders.emplace_back(our_joint_coder(setting, device, path)).open = async_encoder(params, data);
}

/// A decoder for each thread, and AsyncDecoder, which has these threads itself.
void add_host_decoders(const Setting& setting, int device, const char* path,
                       const SharedHostData& data, Coders& coders) {
  const DecodeParams params = decode_params(Backend::cuda, device);
  coders.emplace_back(our_device_coder(setting, device, path)).open = host_decoder(params, data);
  Coder& async = coders.emplace_back(our_joint_coder(setting, device, path));
  async.name = kAsyncCoder;
  async.open = async_decoder(params, data);
}

Status add_coders(const Setting& setting, int device, Coders& coders) {
  ZR_CUDA_TRY(cudaSetDevice(device));
  SharedHostData pinned, pageable;
  ZR_TRY(store(HostData::make(setting, HostMemory::pinned), pinned));
  ZR_TRY(store(HostData::make(setting, HostMemory::pageable), pageable));
  auto up = static_cast<std::size_t>(setting.frames.raw_bytes());
  auto down = static_cast<std::size_t>(setting.reference.stream_bytes);
  if (setting.what.encodes()) {
    ZR_TRY(add_device_encoders(setting, device, coders));
    add_host_encoders(setting, device, "pinned>host", pinned, coders);
    add_host_encoders(setting, device, "pageable>host", pageable, coders);
  } else {
    std::swap(up, down);
    const DecodeParams params = decode_params(Backend::cuda, device);
    coders.emplace_back(our_device_coder(setting, device, "pinned>device")).open =
        runner_of<DecodeRunner>(params, &setting.frames, pinned);
    coders.emplace_back(our_device_coder(setting, device, "pageable>device")).open =
        runner_of<DecodeRunner>(params, &setting.frames, pageable);
    add_host_decoders(setting, device, "pinned>host", pinned, coders);
    add_host_decoders(setting, device, "pageable>host", pageable, coders);
  }
  const auto on_device = CudaMemory::device, on_host = CudaMemory::pinned;
  add_copy(setting, device, "pinned>device", on_host, on_device, up, coders);
  add_copy(setting, device, "device>pinned", on_device, on_host, down, coders);
  add_copy(setting, device, "device>device", on_device, on_device, kCopyBytes, coders);
  return Status::ok();
}

/// Copies on all devices of a team at the same time: the floor of its rows.
void add_team_copy(const Setting& setting, const std::vector<int>& devices, const char* path,
                   CudaMemory from, CudaMemory to, std::size_t bytes, Coders& coders) {
  Coder& coder = coders.emplace_back(our_team_coder(setting, devices, path));
  coder.name = "copy";
  coder.ours = false;
  coder.copied_bytes = bytes;
  coder.at_once = {2 * static_cast<int>(devices.size())};
  coder.open = in_turn(devices, [=](int device) -> Result<std::unique_ptr<Runner>> {
    auto runner = std::make_unique<PacedCopyRunner>(device, from, to, bytes);
    ZR_TRY(runner->open());
    return std::unique_ptr<Runner>(std::move(runner));
  });
}

void add_team_decoder(const Setting& setting, const std::vector<int>& devices,
                      const SharedHostData& pinned, Coders& coders) {
  Coder& coder = coders.emplace_back(our_team_coder(setting, devices, "pinned>device"));
  const FrameSet* const like = &setting.frames;
  coder.open = in_turn(devices, [=](int device) -> Result<std::unique_ptr<Runner>> {
    auto runner =
        std::make_unique<DecodeRunner>(decode_params(Backend::cuda, device), like, pinned);
    ZR_TRY(runner->open());
    return std::unique_ptr<Runner>(std::move(runner));
  });
}

/// AsyncEncoder or AsyncDecoder with all devices.
void add_team_async(const Setting& setting, const std::vector<int>& devices, const char* path,
                    const SharedHostData& data, Coders& coders) {
  Coder& coder = coders.emplace_back(our_team_coder(setting, devices, path));
  coder.drive = Drive::one_thread;
  coder.joint = true;
  const bool encode = setting.what.encodes();
  if (!encode) coder.name = kAsyncCoder;
  coder.open = encode ? async_encoder(encode_params(setting.what, Backend::cuda), data, devices)
                      : async_decoder(decode_params(Backend::cuda, 0), data, devices);
}

Status add_team(const Setting& setting, const std::vector<int>& devices, Coders& coders) {
  ZR_CUDA_TRY(cudaSetDevice(devices[0]));
  SharedHostData pinned;
  ZR_TRY(store(HostData::make(setting, HostMemory::pinned), pinned));
  auto up = static_cast<std::size_t>(setting.frames.raw_bytes());
  auto down = static_cast<std::size_t>(setting.reference.stream_bytes);
  if (setting.what.encodes()) {
    ZR_TRY(add_team_encoder(setting, devices, coders));
  } else {
    std::swap(up, down);
    add_team_decoder(setting, devices, pinned, coders);
  }
  add_team_async(setting, devices, "pinned>host", pinned, coders);
  const auto on_device = CudaMemory::device, on_host = CudaMemory::pinned;
  add_team_copy(setting, devices, "pinned>device", on_host, on_device, up, coders);
  add_team_copy(setting, devices, "device>pinned", on_device, on_host, down, coders);
  return Status::ok();
}

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

Coder our_device_coder(const Setting& setting, int device, const char* path) {
  Coder coder = our_coder(fmt::format("cuda:{}", device), path);
  coder.at_once = setting.selection.in_flight;
  return coder;
}

Coder our_joint_coder(const Setting& setting, int device, const char* path) {
  Coder coder = our_device_coder(setting, device, path);
  coder.measure_latency = false;
  coder.drive = Drive::one_thread;
  coder.joint = true;
  return coder;
}

Coder our_team_coder(const Setting& setting, const std::vector<int>& devices, const char* path) {
  Coder coder = our_coder(fmt::format("cuda:{}", fmt::join(devices, ",")), path);
  coder.measure_latency = false;
  for (const int n : setting.selection.in_flight)
    coder.at_once.push_back(n * static_cast<int>(devices.size()));
  return coder;
}

Status add_cuda_teams(const Setting& setting, Coders& coders) {
  for (const std::vector<int>& devices : setting.selection.teams)
    if (Status status = add_team(setting, devices, coders); !status)
      setting.notes.push_back(
          fmt::format("zerorun cuda:{}: {}", fmt::join(devices, ","), status.message()));
  return Status::ok();
}

Status add_cuda_coders(const Setting& setting, Coders& coders) {
  for (const int device : setting.selection.cuda)
    if (Status status = add_coders(setting, device, coders); !status)
      setting.notes.push_back(fmt::format("zerorun cuda:{}: {}", device, status.message()));
  return Status::ok();
}

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
