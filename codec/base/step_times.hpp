// How long the steps of a frame take: coders of the benchmark that measure each, which are not
// linked by the library, and when a device worked for a thread, and at what.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "zerorun/decoder.hpp"
#include "zerorun/encoder.hpp"

namespace zerorun {

struct StepTime {
  const char* step;  ///< a string literal
  double microseconds;
};

/// Encodes frames of one shape, one at a time. One thread at a time.
class StepEncoder {
 public:
  virtual ~StepEncoder() = default;

  /// Encodes `frame` into `out`, waits until that is done, and returns the bytes of the stream.
  /// Appends the steps to `steps` in their order; a step may come several times.
  virtual Result<std::uint64_t> encode(const ConstFrameView& frame, std::span<std::byte> out,
                                       std::vector<StepTime>& steps) = 0;
};

/// Decodes images of one shape, one at a time. One thread at a time.
class StepDecoder {
 public:
  virtual ~StepDecoder() = default;

  /// Decodes `jpeg` into `out` and waits until that is done. Appends the steps as encode() does.
  virtual Status decode(std::span<const std::byte> jpeg, const FrameView& out,
                        std::vector<StepTime>& steps) = 0;
};

/// Which implementation is measured. Frames and streams lie in the memory that each names.
enum class StepWay {
  cpu,          ///< stages on one thread, a clock around each: host memory, a scan without headers
  cuda_staged,  ///< one kernel or more a stage: pinned host memory, a scan without headers
  cuda_fused,   ///< the product's kernels: device frames and, of the encoder, device streams
};

/// `like` has the format and the size of the frames.
/// Errors: those of Encoder::create() and Decoder::create(), out_of_memory, device_failure.
Result<std::unique_ptr<StepEncoder>> make_step_encoder(StepWay way, const EncodeParams& params,
                                                       const ConstFrameView& like);
Result<std::unique_ptr<StepDecoder>> make_step_decoder(StepWay way, const DecodeParams& params);

// Those of the CUDA backend, on `params.device`; defined in cuda/*/step_times.cpp.
Result<std::unique_ptr<StepEncoder>> make_cuda_step_encoder(const EncodeParams& params,
                                                            const ConstFrameView& like,
                                                            bool is_staged);
Result<std::unique_ptr<StepDecoder>> make_cuda_step_decoder(const DecodeParams& params,
                                                            bool is_staged);

enum class DeviceStep : std::uint8_t { upload, kernels, download };

struct DeviceSpan {
  using Time = std::chrono::steady_clock::time_point;
  DeviceStep step;
  int device;
  Time begin, end;
};

/// How long the queue of a device spent on a step; none: it waited for the host or for others.
struct DeviceStretch {
  std::optional<DeviceStep> step;
  double microseconds;
};

/// Appends the stretches that have a step. They follow each other, and the first one began at
/// `begin`; at `now` all were over, so they began earlier where `begin` says otherwise.
void place_spans(DeviceSpan::Time begin, DeviceSpan::Time now,
                 std::span<const DeviceStretch> stretches, int device,
                 std::vector<DeviceSpan>& out);

/// While it lives, coders that its thread calls measure the work of their devices and record it
/// here; otherwise they measure nothing. If a thread has several, the last one counts.
class DeviceSpans {
 public:
  DeviceSpans() noexcept;
  ~DeviceSpans();
  DeviceSpans(const DeviceSpans&) = delete;
  DeviceSpans& operator=(const DeviceSpans&) = delete;

  /// That of the calling thread, or null.
  static DeviceSpans* current() noexcept;

  std::vector<DeviceSpan> spans;

 private:
  DeviceSpans* const outer_;
};

}  // namespace zerorun
