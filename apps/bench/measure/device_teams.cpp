// zerorun's coders and plain copies on several GPUs at the same time.
// SPDX-License-Identifier: MIT
#include <fmt/core.h>
#include <fmt/format.h>

#include <utility>

#include "apps/bench/measure/device_runners.hpp"

namespace zerorun::app::bench {
namespace {

/// Copies on all devices of a team at the same time: the floor of its rows.
void add_team_copy(const Setting& setting, const std::vector<int>& devices, const char* path,
                   CudaMemory from, CudaMemory to, std::size_t bytes, Coders& coders) {
  Coder& coder = coders.emplace_back(our_team_coder(setting, devices, path));
  coder.name = "copy";
  coder.ours = false;
  coder.copied_bytes = bytes;
  coder.at_once = {2 * static_cast<int>(devices.size())};
  coder.open = in_turn(
      devices, [=](int device) { return runner_of<PacedCopyRunner>(device, from, to, bytes); });
}

void add_team_decoder(const Setting& setting, const std::vector<int>& devices,
                      const SharedHostData& pinned, Coders& coders) {
  Coder& coder = coders.emplace_back(our_team_coder(setting, devices, "pinned>device"));
  const FrameSet* const like = &setting.frames;
  coder.open = in_turn(devices, [=](int device) {
    return runner_of<DecodeRunner>(decode_params(Backend::cuda, device), like, pinned);
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

}  // namespace

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

}  // namespace zerorun::app::bench
