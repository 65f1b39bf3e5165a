// The encoder and the decoder for frames in device memory, on the caller's CUDA stream.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>

#include <cuda_runtime_api.h>

#include "zerorun/cuda_entropy.hpp"
#include "zerorun/decoder.hpp"
#include "zerorun/encoder.hpp"

namespace zerorun {

/// A frame and where its stream goes: the arguments of DeviceEncoder::encode().
struct DeviceEncodeJob {
  ConstFrameView frame;
  std::byte* out = nullptr;
  std::size_t capacity = 0;
  std::size_t* size = nullptr;
};

/// A stream of DeviceEncoder::encode_to_host() whose size is known, and memory for it.
struct EncodedStream {
  std::size_t frame = 0;     ///< the index of its frame in the batch
  std::size_t bytes = 0;     ///< 0: no stream of the frame is as small as SizeGoal asks for
  std::byte* out = nullptr;  ///< host memory of `bytes` bytes; null: the stream is not wanted
};
/// Sets EncodedStream::out of some streams of a batch. An error ends the batch.
using StreamMemory = std::function<Status(std::span<EncodedStream> streams)>;

/// Encodes device frames into device memory without waiting for the device. Writes the same bytes
/// as Encoder. Move-only. One thread at a time per object; objects are independent.
class ZERORUN_API DeviceEncoder {
 public:
  /// `params.backend` is automatic or cuda, `params.device` the device of all that is passed to
  /// encode(). Errors: invalid_argument (also for a target of PSNR or SSIM, and for any size of
  /// progressive streams, which the host finds),
  /// no_device, device_unsuitable, device_failure.
  static Result<DeviceEncoder> create(const EncodeParams& params);

  DeviceEncoder(DeviceEncoder&&) noexcept;
  DeviceEncoder& operator=(DeviceEncoder&&) noexcept;
  ~DeviceEncoder();  ///< waits for the work that it enqueued

  /// Enqueues the coding of `frame` on `stream`: the JPEG stream, SOI to EOI, goes to `out` and its
  /// size to *size, which is aligned to 8. The planes may have any stride and alignment. All
  /// pointers are device memory; `out` and `size` may also be pinned host memory, into which the
  /// device then writes without a copy. Nothing is written from `capacity` bytes on: a stream that
  /// needs more has *size > capacity, and `out` then holds no stream. With a size in params() the
  /// device finds the setting by itself; *size is 0 if no stream of the frame is so small, where
  /// Encoder returns size_not_reached, and `out` then holds no stream. The caller keeps frame,
  /// `out` and *size alive and unchanged until the work enqueued on `stream` has completed. The
  /// call waits for the device only where memory must grow for a larger frame. Frames on several
  /// streams are coded one after another, in the order of the calls. Errors: invalid_frame,
  /// invalid_argument (also for a stream that is being captured), out_of_memory, device_failure;
  /// later calls or the stream report faults of the device.
  Status encode(const ConstFrameView& frame, std::byte* out, std::size_t capacity,
                std::size_t* size, cudaStream_t stream);

  /// The same for several frames, in the order of `jobs`, whose outputs do not overlap. Frames of
  /// one format and size that follow each other go through the kernels together, up to 32 frames
  /// and about 260,000 blocks (two 1920x1080 frames have 97,920), for which the encoder takes
  /// memory. It pays for small frames, whose time is mostly that of the launches. With a size in
  /// params() frames go through the kernels one by one: each takes 5 rounds of launches, or
  /// 16 where it has less than 2^19 pixels, and one more with max_bytes alone, of which the device
  /// skips most; into pinned memory every coding crosses the bus. `jobs` may be empty. Errors: as
  /// encode(). All jobs are checked before the first one is enqueued. After out_of_memory and
  /// device_failure some jobs may be under way; their memory has to stay.
  Status encode_batch(std::span<const DeviceEncodeJob> jobs, cudaStream_t stream);

  /// Encodes device frames of any formats and sizes into host memory, and returns when all streams
  /// are there. `memory` is called by this thread, with each stream once, in groups and in any
  /// order; it must not use this encoder. While two groups are coded, behind what `stream` has to
  /// do by now, the one before crosses the bus in one copy to pinned memory, and params().threads
  /// threads (0: up to 8) copy the one before that into the memory that the caller gave; they copy
  /// the stream of a single frame while it crosses the bus. A stream of more than 3/4 byte a pixel
  /// and 64 KiB is coded a second time. The encoder keeps at most 96 MiB of device memory for it,
  /// besides what two groups take to be coded, and at most 80 MiB of pinned memory; more only for
  /// single frames of more than 22 megapixels or streams of more than 16 MiB, which take up to 10
  /// times their room. After an error some streams may be in their
  /// memory, and nothing writes to it any more. Errors: as encode() and those of `memory`; all
  /// frames are checked before the first one is enqueued.
  Status encode_to_host(std::span<const ConstFrameView> frames, const StreamMemory& memory,
                        cudaStream_t stream);

  const EncodeParams& params() const noexcept;

 private:
  struct Impl;
  explicit DeviceEncoder(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

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

  /// As Decoder::select(). The GPU decodes all MCUs of a scan, and transforms those of the region;
  /// a region is copied within the device on the caller's stream.
  Status select(int scale, const Region& region = {});

  /// Decodes the first image in `jpeg` (host memory) into `out`, which has the size of the image
  /// and whose planes are device memory of any stride and alignment. The call waits for `stream`
  /// and returns the whole report; the frame is complete when the work enqueued on `stream` has
  /// completed. After an error in the headers nothing has been written to `out`; after a later one
  /// its contents are undefined. Errors: as Decoder::decode().
  Result<DecodeReport> decode(std::span<const std::byte> jpeg, const FrameView& out,
                              cudaStream_t stream);

  /// The same. `meanwhile` is called at most once, by this thread, while the device works and the
  /// call would only wait: time to read the next stream, or to copy it to pinned memory. It must
  /// neither throw nor use this decoder.
  Result<DecodeReport> decode(std::span<const std::byte> jpeg, const FrameView& out,
                              cudaStream_t stream, const std::function<void()>& meanwhile);

  /// The same for a stream of `bytes` bytes in device memory. It is copied to the host once, which
  /// reads its headers; its scans are decoded where they are.
  Result<DecodeReport> decode_device(const std::byte* jpeg, std::size_t bytes, const FrameView& out,
                                     cudaStream_t stream);

  const DecodeParams& params() const noexcept;

 private:
  struct Impl;
  explicit DeviceDecoder(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

}  // namespace zerorun
