// Choice of backend, and what devices tests see; the only file of codec that knows whether CUDA was
// built.
// SPDX-License-Identifier: MIT
#include "zerorun/backend.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <string>

#include "codec/api/pipelines.hpp"
#include "codec/arith/host_device.hpp"
#include "codec/base/choices.hpp"
#include "codec/base/cuda_device.hpp"
#include "codec/pipeline/cpu_choice.hpp"

namespace zerorun {

#ifndef ZERORUN_HAVE_CUDA
std::vector<DeviceInfo> cuda_backend_devices() { return {}; }
Result<DeviceInfo> cuda_backend_device(int) { return Status(Errc::cuda_not_built); }
Status cuda_backend_check(int) { return Status(Errc::cuda_not_built); }
Result<std::byte*> cuda_allocate_pinned(std::size_t) { return Status(Errc::cuda_not_built); }
void cuda_release_pinned(std::byte*) noexcept {}
Result<std::unique_ptr<EncodePipeline>> make_cuda_encode_pipeline(int, int) {
  return Status(Errc::cuda_not_built);
}
Result<std::unique_ptr<DecodePipeline>> make_cuda_decode_pipeline(int, int) {
  return Status(Errc::cuda_not_built);
}
Result<std::unique_ptr<DecodePipeline>> make_cuda_recode_pipeline(int, int) {
  return Status(Errc::cuda_not_built);
}
#endif

static constinit std::atomic<int> g_count{0}, g_failing{-1};
// Of the failing device, over all its pipelines.
static constinit std::atomic<int> g_frames{0}, g_begun{0};

void set_test_devices(const TestDevices& devices) {
  constexpr int kMostTestDevices = 64;
  g_count = std::clamp(devices.count, 0, kMostTestDevices);
  g_begun = 0;
  g_frames = devices.frames;
  g_failing = devices.failing;
}

int test_device_count() { return g_count; }

Status failure_for_test(int device) {
  if (device < 0 || device != g_failing) return Status::ok();
  if (g_begun++ < g_frames) return Status::ok();
  return Status(Errc::device_failure, "device " + std::to_string(device) + " fails for a test");
}

std::string_view name(Backend backend) noexcept { return word_of(backend); }

/// As cuda_device(), where the CPU pretends to be devices for a test.
static Result<DeviceInfo> test_device(int device) {
  if (device >= test_device_count())
    return Status(Errc::no_device, "there is no device " + std::to_string(device) + ", only 0 to " +
                                       std::to_string(test_device_count() - 1));
  DeviceInfo info;
  info.index = device;
  info.name = "the CPU, for a test";
  return info;
}

std::vector<DeviceInfo> cuda_devices() {
  std::vector<DeviceInfo> pretended;
  for (int device = 0; device < test_device_count(); ++device)
    pretended.push_back(*test_device(device));
  if (!pretended.empty()) return pretended;
  return cuda_backend_devices();
}

std::vector<int> usable_cuda_devices() {
  std::vector<int> usable;
  for (const DeviceInfo& device : cuda_devices())
    if (device.usable) usable.push_back(device.index);
  return usable;
}

Status cuda_presence() {
  if (test_device_count() > 0) return Status::ok();
#ifdef ZERORUN_HAVE_CUDA
  if (has_driver_files("/dev", std::getenv("CUDA_VISIBLE_DEVICES"))) return Status::ok();
  return Status(Errc::no_device, "there is no NVIDIA driver");
#else
  return Status(Errc::cuda_not_built);
#endif
}

Result<DeviceInfo> cuda_device(int device) {
  if (device < 0) return Status(Errc::no_device, "the device index is negative");
  if (test_device_count() > 0) return test_device(device);
  return cuda_backend_device(device);
}

static Status check_cuda(int device) {
  if (test_device_count() > 0) return test_device(device).status();
  return cuda_backend_check(device);
}

Result<Backend> resolve_backend(Backend wanted, int device) {
  if (device < 0) return Status(Errc::invalid_argument, "the device index is negative");
  if (wanted == Backend::cpu) return Backend::cpu;
  Status cuda = check_cuda(device);
  if (cuda) return Backend::cuda;
  if (wanted == Backend::automatic) return Backend::cpu;
  return cuda;
}

Result<std::unique_ptr<EncodePipeline>> make_pipeline(Backend backend, const EncodeParams& params) {
  if (backend != Backend::cuda)
    return make_chosen_encode_pipeline(params.threads, params.instruction_set);
  if (test_device_count() > 0) return make_chosen_encode_pipeline(1, params.instruction_set);
  return make_cuda_encode_pipeline(params.device, params.threads);
}

Result<std::unique_ptr<DecodePipeline>> make_pipeline(Backend backend, const DecodeParams& params) {
  if (backend != Backend::cuda)
    return make_chosen_decode_pipeline(params.threads, params.instruction_set);
  if (test_device_count() > 0) return make_chosen_decode_pipeline(1, params.instruction_set);
  return make_cuda_decode_pipeline(params.device, params.threads);
}

Result<std::byte*> allocate_pinned(std::size_t bytes) {
  if (test_device_count() > 0) return allocate_pageable(round_up(bytes, std::size_t{64}));
  return cuda_allocate_pinned(bytes);
}

void release_pinned(std::byte* memory) noexcept {
  if (test_device_count() > 0) return std::free(memory);
  cuda_release_pinned(memory);
}

}  // namespace zerorun
