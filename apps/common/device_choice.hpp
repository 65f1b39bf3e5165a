// --device auto: the CPU or CUDA, from the size of the work; and CUDA's start beside other work.
// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/core.h>

#include <chrono>
#include <functional>
#include <future>
#include <limits>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "apps/common/input_output.hpp"
#include "apps/common/options.hpp"
#include "apps/common/process.hpp"
#include "codec/base/cuda_device.hpp"
#include "codec/base/try.hpp"
#include "zerorun/zerorun.hpp"

namespace zerorun::app {

/// What a command does with the frames.
enum class Work { encode, decode, recode };

/// What decides between the CPU and a GPU.
struct DeviceCosts {
  double cpu_seconds_per_megapixel;  ///< on one thread
  double gpu_seconds_per_megapixel;
  double start_seconds;  ///< a process on a GPU, longer than one on the CPU

  static DeviceCosts of(Work work) noexcept {
    // Measured by `bench --files` with 4K frames (8.29 megapixels) at quality 90 in tmpfs, on 16
    // cores and an H200. Each further frame takes 22 ms of one thread and 30 of 16 threads to
    // encode, and 20 of one and 26 of 4 to decode, so it counts as 26 and 23; the GPU encodes one
    // in 0.28 ms and gets one to pinned memory in 0.24. A process for one picture takes 0.305 s on
    // the GPU and 0.015 on the CPU. With 16 threads both encode 216 frames in the same time by
    // these numbers; the CPU took 0.42 s for 192 and the GPU 0.48.
    // Coding streams again takes 57 ms of a thread, of 16, and 0.61 on the GPU (at q75).
    constexpr double kMegapixels = 8.29, kStart = 0.29;
    const auto costs = [](double cpu_ms, double gpu_ms) {
      return DeviceCosts{cpu_ms * 1e-3 / kMegapixels, gpu_ms * 1e-3 / kMegapixels, kStart};
    };
    return work == Work::encode   ? costs(26, 0.28)
           : work == Work::decode ? costs(23, 0.24)
                                  : costs(57, 0.61);
  }
  /// The pixels from which a GPU is faster than `threads` threads; infinite if it never is.
  double break_even_pixels(int threads) const noexcept {
    const double saved = cpu_seconds_per_megapixel / threads - gpu_seconds_per_megapixel;
    return saved > 0 ? start_seconds / saved * 1e6 : std::numeric_limits<double>::infinity();
  }
};

struct DeviceChoice {
  Backend backend = Backend::cpu;
  std::string reason;  ///< a clause after "because"
};

/// Chooses where a device seems to be there. `pixels` of all frames; nullopt if not known.
inline DeviceChoice choose_by_work(std::optional<double> pixels, int threads,
                                   const DeviceCosts& costs) {
  if (!pixels) return {Backend::cuda, "the length of the input is not known beforehand"};
  const auto text = [](double number) {
    const double mega = number * 1e-6;
    return mega < 10 ? fmt::format("{:.1f}", mega) : fmt::format("{:.0f}", mega);
  };
  const double least = costs.break_even_pixels(threads);
  return {*pixels >= least ? Backend::cuda : Backend::cpu,
          fmt::format("the input has about {} megapixels, and the start of CUDA ({:.1f} s) pays "
                      "off from {} on, with {} thread{}",
                      text(*pixels), costs.start_seconds, text(least), threads,
                      threads == 1 ? "" : "s")};
}

/// How devices are found and started; tests replace it.
struct DeviceProbe {
  std::function<Status()> presence;         ///< as cuda_presence()
  std::function<Status(int device)> start;  ///< makes the device ready for use
};

/// A small grey frame, coded and thrown away: it creates the context and loads the kernels.
inline Status start_coder(Work work, int device) {
  const bool encodes = work == Work::encode;
  EncodeParams coding;
  coding.backend = encodes ? Backend::cuda : Backend::cpu;
  coding.device = encodes ? device : 0;
  coding.threads = encodes ? 0 : 1;
  ZR_LET(encoder, Encoder::create(coding));
  ZR_LET(frame, Frame::create(PixelFormat::yuv420p, 64, 64));
  std::vector<std::byte> jpeg;
  ZR_LET(coded, encoder.encode(std::as_const(frame).view(), jpeg));
  if (encodes) return Status::ok();
  DecodeParams params;
  if (work == Work::recode) {
    TranscodeParams recoding;
    recoding.optimize = true;
    recoding.backend = Backend::cuda;
    recoding.device = device;
    ZR_LET(transcoder, Transcoder::create(recoding));
    std::vector<std::byte> out;
    return transcoder.transcode(std::span(jpeg).first(coded.bytes), out).status();
  }
  params.backend = Backend::cuda;
  params.device = device;
  ZR_LET(decoder, Decoder::create(params));
  return decoder.decode(std::span(jpeg).first(coded.bytes), PixelFormat::yuv420p, frame).status();
}

/// Chooses a backend and starts CUDA in a thread, while the caller opens its input.
class DeviceStart {
 public:
  /// `pixels` of all frames, nullopt if not known. Ends the command with exit 5 if CUDA is asked
  /// for and certainly not there.
  DeviceStart(const DeviceOptions& asked, std::optional<double> pixels, Work work,
              DeviceProbe probe)
      : asked_(asked) {
    choice_.backend = asked.backend;
    if (asked.backend == Backend::cpu) return;
    const Status present = probe.presence();
    if (asked.backend == Backend::automatic) {
      const int threads = worker_count(asked, Backend::cpu);
      choice_ = present ? choose_by_work(pixels, threads, DeviceCosts::of(work)) : DeviceChoice{};
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
  /// Does not wait: a thread in CUDA's start is left behind, and the process ends by _Exit().
  ~DeviceStart() {
    if (started_.valid() && started_.wait_for(std::chrono::seconds(0)) != std::future_status::ready)
      signals::set_thread_left_behind();
  }
  DeviceStart(const DeviceStart&) = delete;
  DeviceStart& operator=(const DeviceStart&) = delete;

  /// The device for a source that decodes JPEG itself. It may use the CPU if `auto` chose CUDA.
  DeviceOptions for_source() const {
    DeviceOptions device = asked_;
    if (choice_.backend == Backend::cpu) device.backend = Backend::cpu;
    // The source uses the first device; if that one fails, the CPU decodes the input.
    else if (!asked_.list.empty())
      device.backend = Backend::automatic;
    return device;
  }

  /// Waits until CUDA has started and gives the backend. Where `auto` chose CUDA and it did not
  /// start, that is the CPU. Ends the command with exit 5 if CUDA was asked for and did not start.
  Backend finish() {
    if (!started_.valid()) return choice_.backend;
    const Status status = started_.get();
    if (status && asked_.backend == Backend::automatic) allow_pageable_instead();
    if (status) return choice_.backend;
    if (asked_.backend == Backend::cuda) fail(exit_for(status, Exit::device), status.message());
    fallback_ = status.message();
    return choice_.backend = Backend::cpu;
  }

  /// After finish(), what coders are made with: `automatic` where that chose CUDA, so that they go
  /// on with the CPU where the device fails later.
  Backend for_coders() const noexcept {
    return choice_.backend == Backend::cuda ? asked_.backend : Backend::cpu;
  }

  /// Prints what was chosen and why, once the command has opened its input and output: an error
  /// there stands alone.
  void tell() const {
    if (asked_.backend != Backend::automatic) return;
    const char* const taken = choice_.backend == Backend::cuda ? "CUDA" : "the CPU";
    console::detail(fmt::format("--device auto takes {}, because {}", taken,
                                fallback_.empty() ? choice_.reason : fallback_));
  }

 private:
  /// All at the same time: each takes some 0.3 s. The error is that of the first one that fails.
  static Status start_all(const std::function<Status(int)>& start,
                          const std::vector<int>& devices) {
    std::vector<std::future<Status>> started;
    for (std::size_t i = 1; i < devices.size(); ++i)
      started.push_back(std::async(std::launch::async, start, devices[i]));
    Status status = start(devices[0]);
    for (std::future<Status>& one : started)
      if (Status other = one.get(); status && !other) status = std::move(other);
    return status;
  }

  DeviceOptions asked_;
  DeviceChoice choice_;
  std::string fallback_;  ///< why CUDA is not used although it might have been
  std::future<Status> started_;
};

/// Prints which devices failed, from number `told` on.
inline void tell_lost_devices(const std::vector<LostDevice>& lost, std::size_t told = 0) {
  for (; told < lost.size(); ++told)
    console::note(fmt::format(
        "cuda:{} failed and is not used any more, the other devices code its frames again: {}",
        lost[told].device, lost[told].why.message()));
}

/// The pixels of INPUT, as far as names and sizes tell; one frame of it if `output` holds one.
inline std::optional<double> pixels_of(const InputOptions& input, const OutputOptions& output) {
  io::SourceOptions options = source_options(input, {});
  // A single picture takes one frame of any input.
  const bool is_one = is_single_image(output);
  if (is_one && options.last_frame < 0) options.last_frame = options.first_frame + 1;
  const auto pixels = io::estimate_pixels(input, options);
  // One frame from a pipe: for no single picture that zerorun codes does the start of CUDA pay off.
  return pixels || !is_one ? pixels : 0.0;
}

}  // namespace zerorun::app
