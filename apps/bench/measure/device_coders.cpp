// zerorun's coders on a GPU, from and to device and host memory, and plain copies beside them.
// SPDX-License-Identifier: MIT
#include <fmt/core.h>

#include <utility>

#include "apps/bench/measure/device_runners.hpp"

namespace zerorun::app::bench {
namespace {

/// Bytes of the copy in device memory: far more than any cache holds.
constexpr std::size_t kCopyBytes = std::size_t{512} << 20;

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

Status add_cuda_coders(const Setting& setting, Coders& coders) {
  for (const int device : setting.selection.cuda)
    if (Status status = add_coders(setting, device, coders); !status)
      setting.notes.push_back(fmt::format("zerorun cuda:{}: {}", device, status.message()));
  return Status::ok();
}

}  // namespace zerorun::app::bench
