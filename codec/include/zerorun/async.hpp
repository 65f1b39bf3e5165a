// Frames in flight: several frames are coded at a time and come back in the order they went in.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "zerorun/decoder.hpp"
#include "zerorun/encoder.hpp"

namespace zerorun {

struct AsyncEncodeParams {
  /// `threads` is that of one lane, and 0 means 1 here: the lanes are what runs side by side.
  EncodeParams encode;
  /// Frames encoded at a time, each by a thread and an encoder of its own; on CUDA each has its own
  /// stream, so that upload, kernels and download of different frames overlap. 0: one a core on the
  /// CPU, 4 on CUDA. The memory of an Encoder is needed this many times.
  int lanes = 0;
  /// Frames submitted and not yet received, at most 4096. 0: twice the lanes.
  int depth = 0;
};

struct SubmitOptions {
  std::uint64_t tag = 0;            ///< comes back with the frame
  std::optional<int> quality = {};  ///< of this frame, instead of AsyncEncoder::set_quality()
  /// When `depth` frames are in flight: wait until another thread has received one, instead of
  /// failing with queue_full.
  bool wait = false;
};

/// A finished frame. Receive into the same object again and again: its memory goes back to the
/// encoder then, and nothing is allocated or copied.
struct EncodedFrame {
  std::int64_t number = 0;  ///< counted from 0 in the order of submit()
  std::uint64_t tag = 0;
  Status status;        ///< an error of this frame alone; the others go on
  EncodeReport report;  ///< undefined after an error
  HostBuffer jpeg;      ///< SOI to EOI; pinned memory on CUDA; undefined after an error
  Frame frame;          ///< what submit(Frame&&) took; empty for submit(ConstFrameView)
};

/// The bytes are those of Encoder. Any thread may call any member at any time; only destruction and
/// moving need that no other call runs. Destruction with frames in flight waits for those that are
/// being encoded and drops the others.
class ZERORUN_API AsyncEncoder {
 public:
  /// Errors: those of Encoder::create(), invalid_argument (lanes, depth).
  static Result<AsyncEncoder> create(const AsyncEncodeParams& params);

  AsyncEncoder(AsyncEncoder&&) noexcept;
  AsyncEncoder& operator=(AsyncEncoder&&) noexcept;
  ~AsyncEncoder();

  /// Puts a frame into the queue; the caller keeps its memory alive and unchanged until the frame
  /// is received, or discard() or the destructor returned. Pinned memory (HostMemory::pinned) is
  /// what a GPU reads fastest. A frame that cannot be encoded is reported by receive().
  /// Errors: queue_full, already_finished, invalid_argument (quality). Then nothing was queued.
  Status submit(const ConstFrameView& frame, const SubmitOptions& options = {});

  /// The same with a frame that moves in and comes back with the result. After an error it is still
  /// the caller's.
  Status submit(Frame&& frame, const SubmitOptions& options = {});

  /// Takes the oldest frame when it is finished. With `wait` it waits for that, also for a frame
  /// that another thread has yet to submit, and never says not_yet: a single thread calls it so
  /// only when in_flight() is not 0 or after finish().
  Received receive(EncodedFrame& out, bool wait);

  /// No frame will follow: submit() fails from here on, receive() gives what is left, then `end`.
  void finish();

  /// Drops every frame in flight and waits until none is being encoded. Their numbers stay used.
  /// After finish() too: submit() is allowed again.
  void discard();

  /// Of the frames submitted from here on that bring none of their own. Errors: invalid_argument.
  Status set_quality(int quality);

  int in_flight() const noexcept;  ///< submitted and not yet received
  int depth() const noexcept;
  int lanes() const noexcept;
  Backend backend() const noexcept;                  ///< cpu or cuda: what `automatic` became
  const AsyncEncodeParams& params() const noexcept;  ///< as given to create()

 private:
  struct Impl;
  explicit AsyncEncoder(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

struct AsyncDecodeParams {
  /// `threads` is that of one lane, and 0 means 1 here: the lanes are what runs side by side.
  DecodeParams decode;
  PixelFormat format = PixelFormat::yuv420p;  ///< of the frames
  /// Images decoded at a time, each by a thread and a decoder of its own; on CUDA each has its own
  /// stream, so that upload, kernels and download of different images overlap. 0: one a core on the
  /// CPU, 4 on CUDA. The memory of a Decoder is needed this many times.
  int lanes = 0;
  /// Images submitted and not yet received, at most 4096. 0: twice the lanes.
  int depth = 0;
};

struct DecodeOptions {
  std::uint64_t tag = 0;                   ///< comes back with the frame
  std::optional<PixelFormat> format = {};  ///< of this frame, instead of AsyncDecodeParams::format
  /// The caller's frame (host memory), which has the size of the image and is decoded into, as by
  /// Decoder::decode(); `format` is its own then. To be left alone until the image is received.
  std::optional<FrameView> into = {};
  /// When `depth` images are in flight: wait until another thread has received one, instead of
  /// failing with queue_full.
  bool wait = false;
};

/// A decoded image. Receive into the same object again and again: its frame's memory goes back to
/// the decoder then, and no memory that grows with the picture is allocated.
struct DecodedFrame {
  std::int64_t number = 0;  ///< counted from 0 in the order of submit()
  std::uint64_t tag = 0;
  Status status;        ///< an error of this image alone; the others go on
  DecodeReport report;  ///< undefined after an error
  Frame frame;          ///< pinned memory on CUDA; undefined after an error and with `into`
  HostBuffer jpeg;      ///< what submit(HostBuffer&&) took; empty for the other submit()
};

/// Samples and reports are those of Decoder. Any thread may call any member at any time; only
/// destruction and moving need that no other call runs. Destruction with images in flight waits for
/// those that are being decoded and drops the others.
class ZERORUN_API AsyncDecoder {
 public:
  /// Errors: those of Decoder::create(), invalid_argument (lanes, depth), invalid_frame (format).
  static Result<AsyncDecoder> create(const AsyncDecodeParams& params = {});

  AsyncDecoder(AsyncDecoder&&) noexcept;
  AsyncDecoder& operator=(AsyncDecoder&&) noexcept;
  ~AsyncDecoder();

  /// Puts an image into the queue; the caller keeps the bytes alive and unchanged until its frame
  /// is received, or discard() or the destructor returned. Pinned memory (HostMemory::pinned) is
  /// what a GPU reads fastest. An image that cannot be decoded is reported by receive(). Errors:
  /// queue_full, already_finished, invalid_frame (format). Then nothing was queued.
  Status submit(std::span<const std::byte> jpeg, const DecodeOptions& options = {});

  /// The same with a stream that moves in and comes back with the frame. After an error it is still
  /// the caller's.
  Status submit(HostBuffer&& jpeg, const DecodeOptions& options = {});

  /// Takes the oldest frame when it is finished. With `wait` it waits for that, also for an image
  /// that another thread has yet to submit, and never says not_yet: a single thread calls it so
  /// only when in_flight() is not 0 or after finish().
  Received receive(DecodedFrame& out, bool wait);

  /// No image will follow: submit() fails from here on, receive() gives what is left, then `end`.
  void finish();

  /// Drops every image in flight and waits until none is being decoded. Their numbers stay used.
  /// After finish() too: submit() is allowed again.
  void discard();

  int in_flight() const noexcept;  ///< submitted and not yet received
  int depth() const noexcept;
  int lanes() const noexcept;
  Backend backend() const noexcept;                  ///< cpu or cuda: what `automatic` became
  const AsyncDecodeParams& params() const noexcept;  ///< as given to create()

 private:
  struct Impl;
  explicit AsyncDecoder(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

}  // namespace zerorun
