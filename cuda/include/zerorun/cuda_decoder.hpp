// The decoder for frames in device memory, on the caller's CUDA stream.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include <cuda_runtime_api.h>

#include "zerorun/decoder.hpp"
#include "zerorun/export.hpp"
#include "zerorun/frame.hpp"
#include "zerorun/status.hpp"

namespace zerorun {

/// Decodes JPEG streams into device frames; the samples and reports are those of Decoder.
/// Move-only. One thread at a time per object; objects are independent.
class ZERORUN_API DeviceDecoder {
 public:
  /// `params.backend` is automatic or cuda, `params.device` the device of all that is passed to
  /// decode(). Errors: invalid_argument, no_device, device_unsuitable, device_failure.
  static Result<DeviceDecoder> create(const DecodeParams& params = {});

  DeviceDecoder(DeviceDecoder&&) noexcept;
  DeviceDecoder& operator=(DeviceDecoder&&) noexcept;
  ~DeviceDecoder();  ///< waits for the work that it enqueued

  /// Decodes the first image in `jpeg` (host memory) into `out`, whose planes are device memory of
  /// any stride and alignment and which has the size of the image. The report is complete when the
  /// call returns, for which it waits for `stream`; the frame is complete when `stream` has got so
  /// far. Nothing is written to `out` after an error in the headers; after a later one its contents
  /// are undefined. Errors: as Decoder::decode().
  Result<DecodeReport> decode(std::span<const std::byte> jpeg, const FrameView& out,
                              cudaStream_t stream);

  /// The same for a stream of `bytes` bytes in device memory. Its headers are read on the host, so
  /// it is copied there once; its scans are decoded where they are.
  Result<DecodeReport> decode_device(const std::byte* jpeg, std::size_t bytes, const FrameView& out,
                                     cudaStream_t stream);

  const DecodeParams& params() const noexcept;

 private:
  struct Impl;
  explicit DeviceDecoder(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

}  // namespace zerorun
