// SPDX-License-Identifier: MIT
#include "apps/common/device_choice.hpp"

#include <fmt/core.h>

#include <chrono>
#include <limits>
#include <thread>
#include <utility>
#include <vector>

#include "apps/common/input_output.hpp"
#include "apps/common/process.hpp"
#include "codec/base/cuda_device.hpp"
#include "codec/base/try.hpp"
#include "zerorun/zerorun.hpp"

namespace zerorun::app {
namespace {

/// A small grey frame, coded and thrown away: it creates the context and loads the kernels.
Status start_coder(Work work, int device) {
  EncodeParams coding;
  coding.backend = work == Work::encode ? Backend::cuda : Backend::cpu;
  coding.device = work == Work::encode ? device : 0;
  coding.threads = work == Work::encode ? 0 : 1;
  ZR_LET(encoder, Encoder::create(coding));
  ZR_LET(frame, Frame::create(PixelFormat::yuv420p, 64, 64));
  std::vector<std::byte> jpeg;
  ZR_LET(coded, encoder.encode(std::as_const(frame).view(), jpeg));
  if (work == Work::encode) return Status::ok();
  DecodeParams params;
  params.backend = Backend::cuda;
  params.device = device;
  ZR_LET(decoder, Decoder::create(params));
  return decoder.decode(std::span(jpeg).first(coded.bytes), PixelFormat::yuv420p, frame).status();
}

/// All at the same time: each takes some 0.3 s. The error is that of the first one that fails.
Status start_all(const std::function<Status(int)>& start, const std::vector<int>& devices) {
  std::vector<std::future<Status>> started;
  for (std::size_t i = 1; i < devices.size(); ++i)
    started.push_back(std::async(std::launch::async, start, devices[i]));
  Status status = start(devices[0]);
  for (std::future<Status>& one : started)
    if (Status other = one.get(); status && !other) status = std::move(other);
  return status;
}

std::string megapixels_text(double pixels) {
  const double mega = pixels * 1e-6;
  return mega < 10 ? fmt::format("{:.1f}", mega) : fmt::format("{:.0f}", mega);
}

DeviceCosts device_costs(Work work) noexcept {
  // Measured by `bench --files` with 4K frames (8.29 megapixels) at quality 90 in tmpfs, on 16
  // cores and an H200. Each further frame takes 22 ms of one thread and 30 of 16 threads to encode,
  // and 20 of one and 26 of 4 to decode, so it counts as 26 and 23; the GPU encodes one in 0.28 ms
  // and gets one to pinned memory in 0.24. A process for one picture takes 0.305 s on the GPU and
  // 0.015 on the CPU. With 16 threads both encode 216 frames in the same time by these numbers; the
  // CPU took 0.42 s for 192 and the GPU 0.48.
  constexpr double kMegapixels = 8.29;
  const double start = 0.29;
  return work == Work::encode ? DeviceCosts{26e-3 / kMegapixels, 0.28e-3 / kMegapixels, start}
                              : DeviceCosts{23e-3 / kMegapixels, 0.24e-3 / kMegapixels, start};
}

}  // namespace

double break_even_pixels(const DeviceCosts& costs, int threads) noexcept {
  const double saved = costs.cpu_seconds_per_megapixel / threads - costs.gpu_seconds_per_megapixel;
  return saved > 0 ? costs.start_seconds / saved * 1e6 : std::numeric_limits<double>::infinity();
}

DeviceChoice choose_by_work(std::optional<double> pixels, int threads, const DeviceCosts& costs) {
  if (!pixels) return {Backend::cuda, "the length of the input is not known beforehand"};
  const double least = break_even_pixels(costs, threads);
  const bool is_worth_it = *pixels >= least;
  return {is_worth_it ? Backend::cuda : Backend::cpu,
          fmt::format("the input has about {} megapixels, and the start of CUDA ({:.1f} s) pays "
                      "off from {} on, with {} thread{}",
                      megapixels_text(*pixels), costs.start_seconds, megapixels_text(least),
                      threads, threads == 1 ? "" : "s")};
}

DeviceProbe real_devices(Work work) {
  return {cuda_presence, [work](int device) { return start_coder(work, device); }};
}

DeviceStart::DeviceStart(const DeviceOptions& asked, std::optional<double> pixels, Work work,
                         DeviceProbe probe)
    : asked_(asked) {
  choice_.backend = asked.backend;
  if (asked.backend == Backend::cpu) return;
  const Status present = probe.presence();
  if (asked.backend == Backend::automatic) {
    const int threads = worker_count(asked, Backend::cpu);
    choice_ = present ? choose_by_work(pixels, threads, device_costs(work)) : DeviceChoice{};
    if (!present) fallback_ = present.message();
  } else if (!present) {
    (void)choose_backend(asked);  // ends the command, unless the device hides its files
  }
  if (choice_.backend == Backend::cpu) return;
  hide_unused_devices(asked);
  // Not std::async, whose future would wait in its destructor.
  std::packaged_task<Status()> task([start = std::move(probe.start), devices = asked.indices()] {
    return start_all(start, devices);
  });
  started_ = task.get_future();
  std::thread(std::move(task)).detach();
}

DeviceStart::~DeviceStart() {
  if (started_.valid() && started_.wait_for(std::chrono::seconds(0)) != std::future_status::ready)
    signals::set_thread_left_behind();
}

DeviceOptions DeviceStart::for_source() const {
  DeviceOptions device = asked_;
  if (choice_.backend == Backend::cpu) device.backend = Backend::cpu;
  // The source uses the first device; if that one fails, the CPU decodes the input.
  else if (!asked_.list.empty())
    device.backend = Backend::automatic;
  return device;
}

Backend DeviceStart::finish() {
  if (!started_.valid()) return choice_.backend;
  const Status status = started_.get();
  if (status && asked_.backend == Backend::automatic) allow_pageable_instead();
  if (status) return choice_.backend;
  if (asked_.backend == Backend::cuda) fail(exit_for(status, Exit::device), status.message());
  fallback_ = status.message();
  choice_.backend = Backend::cpu;
  return Backend::cpu;
}

Backend DeviceStart::for_coders() const noexcept {
  const bool may_change = asked_.backend == Backend::automatic && choice_.backend == Backend::cuda;
  return may_change ? Backend::automatic : choice_.backend;
}

void DeviceStart::tell() const {
  if (asked_.backend != Backend::automatic) return;
  if (!fallback_.empty()) {
    console::detail("--device auto takes the CPU, because " + fallback_);
  } else {
    console::detail(fmt::format("--device auto takes {}, because {}",
                                choice_.backend == Backend::cuda ? "CUDA" : "the CPU",
                                choice_.reason));
  }
}

std::optional<double> pixels_of(const InputOptions& input, const OutputOptions& output) {
  io::SourceOptions options = source_options(input, {});
  // A single picture takes one frame of any input.
  const io::Location out = output_location(input, output);
  const bool is_one = is_single_image(out);
  if (is_one && options.last_frame < 0) options.last_frame = options.first_frame + 1;
  const auto pixels = io::estimate_pixels(input, options);
  if (pixels || !is_one) return pixels;
  // One frame from a pipe: for no single picture that zerorun codes does the start of CUDA pay off.
  return 0.0;
}

}  // namespace zerorun::app
