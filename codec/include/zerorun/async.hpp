// Frames in flight: several frames are coded at a time and come back in the order of submission.
// Rate control: how many bytes each frame of a video may take.
// SPDX-License-Identifier: MIT
//
// AsyncEncoder and AsyncDecoder work alike. submit() puts a frame into the queue, receive() takes
// the oldest one when it is finished. A lane is a thread with a coder of its own; on CUDA each lane
// has its own stream, so that upload, kernels and download of different frames overlap.
//
// Any thread may call any member at any time, but not while the object is moved or destroyed. The
// destructor waits for the frames that are being coded and drops the others.
//
// `devices` names several GPUs: lanes take turns on them, and whichever lane is idle takes the next
// frame; the order and the bytes stay the same. A GPU that fails is not used any more
// (lost_devices()), and the others code its frames again. A frame has the error of a device only if
// no device could code it. That happens after a fault in a kernel or in hardware that breaks the
// CUDA context of a GPU: CUDA then reports it from the other GPUs of the process, too (H200, CUDA
// 13.0), and only a new process can use them. With Backend::automatic the CPU goes on.
//
// The caller keeps the memory of a view alive and unchanged until the frame is received, or until
// discard() or the destructor returns. A GPU reads pinned memory (HostMemory::pinned) fastest. A
// Frame or HostBuffer that is moved in comes back with the result; if submit() fails, it is still
// the caller's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "zerorun/decoder.hpp"
#include "zerorun/encoder.hpp"

namespace zerorun {

struct AsyncEncodeParams {
  EncodeParams encode;  ///< `threads` counts for each lane; CPU: 0 means 1 here
  /// Frames coded at a time, at most 256. 0: usable_processors() on the CPU, 4 a device on CUDA.
  /// Each lane needs the memory of an Encoder.
  int lanes = 0;
  int depth = 0;  ///< frames submitted and not yet received, at most 4096; 0: twice the lanes
  /// CUDA indices, each once, instead of encode.device; at least as many lanes should be there.
  /// With Backend::automatic those that are usable take part, and the CPU codes what none of them
  /// can.
  std::vector<int> devices = {};
};

struct SubmitOptions {
  std::uint64_t tag = 0;              ///< comes back with the frame
  std::optional<int> quality = {};    ///< of this frame, instead of AsyncEncoder::set_quality()
  std::optional<SizeGoal> size = {};  ///< of this frame, instead of EncodeParams::size
  /// If `depth` frames are in flight: wait until another thread receives one, instead of failing
  /// with queue_full.
  bool wait = false;
};

/// A finished frame. Receive into the same object again and again: the encoder reuses its memory,
/// and nothing is allocated or copied.
struct EncodedFrame {
  std::int64_t number = 0;  ///< counted from 0 in the order of submit()
  std::uint64_t tag = 0;
  Status status;        ///< an error of this frame; it does not affect other frames
  EncodeReport report;  ///< undefined after an error
  int device = -1;      ///< the CUDA device whose lane coded it; -1: a lane of the CPU
  HostBuffer jpeg;      ///< SOI to EOI; pinned memory on CUDA; undefined after an error
  Frame frame;          ///< the frame of submit(Frame&&); empty for submit(ConstFrameView)
};

/// Writes the same bytes as Encoder.
class ZERORUN_API AsyncEncoder {
 public:
  /// Errors: those of Encoder::create(), invalid_argument (lanes, depth).
  static Result<AsyncEncoder> create(const AsyncEncodeParams& params);

  AsyncEncoder(AsyncEncoder&&) noexcept;
  AsyncEncoder& operator=(AsyncEncoder&&) noexcept;
  ~AsyncEncoder();

  /// Errors: queue_full, already_finished, invalid_argument (quality); then nothing was queued.
  /// receive() reports a frame that cannot be encoded.
  Status submit(const ConstFrameView& frame, const SubmitOptions& options = {});
  Status submit(Frame&& frame, const SubmitOptions& options = {});

  /// Takes the oldest frame when it is finished. With `wait` it waits for that, also if another
  /// thread has yet to submit the frame, and never returns not_yet. A single thread should wait
  /// only while in_flight() is not 0 or after finish().
  Received receive(EncodedFrame& out, bool wait);

  /// No frame follows: submit() fails from here on; receive() returns the remaining frames, then
  /// `end`.
  void finish();

  /// Drops all frames in flight, waits until none is being coded, and allows submit() again after
  /// finish(). The numbers of dropped frames are not used again.
  void discard();

  /// For the frames submitted from here on without a quality of their own. Errors:
  /// invalid_argument.
  Status set_quality(int quality);

  int in_flight() const noexcept;  ///< submitted and not yet received
  int depth() const noexcept;
  int lanes() const noexcept;
  Backend backend() const noexcept;  ///< cpu or cuda, never automatic
  /// The devices that failed so far, in that order, and why. Throws std::bad_alloc.
  std::vector<LostDevice> lost_devices() const;
  const AsyncEncodeParams& params() const noexcept;  ///< as given to create()

 private:
  struct Impl;
  explicit AsyncEncoder(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

struct AsyncDecodeParams {
  DecodeParams decode;                        ///< `threads` as in AsyncEncodeParams
  PixelFormat format = PixelFormat::yuv420p;  ///< of the frames
  int lanes = 0;                              ///< these three as in AsyncEncodeParams
  int depth = 0;
  std::vector<int> devices = {};
};

struct DecodeOptions {
  std::uint64_t tag = 0;                   ///< comes back with the frame
  std::optional<PixelFormat> format = {};  ///< of this frame, instead of AsyncDecodeParams::format
  /// A frame of the caller in host memory, with the size of the image, to decode into as with
  /// Decoder::decode(). Its own format counts. Do not touch it until the image is received.
  std::optional<FrameView> into = {};
  bool wait = false;  ///< as in SubmitOptions
};

/// A decoded image; as EncodedFrame.
struct DecodedFrame {
  std::int64_t number = 0;  ///< counted from 0 in the order of submit()
  std::uint64_t tag = 0;
  Status status;        ///< an error of this image; it does not affect other images
  DecodeReport report;  ///< undefined after an error
  int device = -1;      ///< as in EncodedFrame
  Frame frame;          ///< pinned memory on CUDA; undefined after an error and with `into`
  HostBuffer jpeg;      ///< the stream of submit(HostBuffer&&); empty for the other submit()
};

/// Gives the same samples and reports as Decoder.
class ZERORUN_API AsyncDecoder {
 public:
  /// Errors: those of Decoder::create(), invalid_argument (lanes, depth), invalid_frame (format).
  static Result<AsyncDecoder> create(const AsyncDecodeParams& params = {});

  AsyncDecoder(AsyncDecoder&&) noexcept;
  AsyncDecoder& operator=(AsyncDecoder&&) noexcept;
  ~AsyncDecoder();

  /// As of AsyncEncoder. Errors: queue_full, already_finished, invalid_frame (format).
  Status submit(std::span<const std::byte> jpeg, const DecodeOptions& options = {});
  Status submit(HostBuffer&& jpeg, const DecodeOptions& options = {});

  /// These members do what those of AsyncEncoder do.
  Received receive(DecodedFrame& out, bool wait);
  void finish();
  void discard();
  int in_flight() const noexcept;
  int depth() const noexcept;
  int lanes() const noexcept;
  Backend backend() const noexcept;
  std::vector<LostDevice> lost_devices() const;
  const AsyncDecodeParams& params() const noexcept;

 private:
  struct Impl;
  explicit AsyncDecoder(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

/// The bucket is the sender's or receiver's buffer. A frame falls into it as a whole and must fit;
/// between two frames bytes_per_frame = bits_per_second / 8 / frames_per_second leak out. It begins
/// half full, and budgets lead it back there: a frame gets bytes_per_frame and an eighth of what
/// the bucket has less than half, but never more than is free. So frames that fill their budgets
/// keep the rate, and after simple frames, which do not, those that follow may be larger. A frame
/// that even its smallest stream takes above its budget may take what the bucket has: room().
struct RateLimits {
  std::int64_t bits_per_second = 0;                     ///< at least 1
  std::int64_t frame_rate_num = 0, frame_rate_den = 1;  ///< frames a second, above 0
  std::size_t bucket_bytes = 0;     ///< 0: those of a second, but at least of four frames
  std::size_t max_frame_bytes = 0;  ///< 0: no limit but the bucket
};

/// Budgets of frames, in their order, for SizeGoal::target_bytes. A budget follows from
/// the sizes of the frames up to kDelay before it; frames in between count with their whole
/// budgets. So kDelay frames may be coded side by side, and budgets do not depend on how many are.
/// Any thread may call any member at any time, but not while the object is moved or destroyed.
class ZERORUN_API RateControl {
 public:
  static constexpr std::int64_t kDelay = 32;

  /// Errors: invalid_argument.
  static Result<RateControl> create(const RateLimits& limits);

  RateControl(RateControl&&) noexcept;
  RateControl& operator=(RateControl&&) noexcept;
  ~RateControl();

  /// Bytes that frame `number`, counted from 0, may take. Waits until the size of frame `number` -
  /// kDelay is known. Errors: the one that fail() got for a frame before it.
  Result<std::size_t> budget(std::int64_t number);
  /// For a frame whose budget is too little for any stream of it (size_not_reached), for
  /// SizeGoal::overrun_bytes: what it may take so that the bucket still does not overflow, whatever
  /// the frames behind it make of their budgets; never less than its budget. Waits until the sizes
  /// of all frames before it are known, so these must not wait for it. Errors:
  /// invalid_argument (the frame has no budget yet, or its size is known), what fail() was told of
  /// a frame before it.
  Result<std::size_t> room(std::int64_t number);
  /// The size of a frame; 0 if it is left out. Only the first for a number counts.
  void coded(std::int64_t number, std::size_t bytes);
  /// The size of frame `number` will never be known. Every call that waits for the budget of a
  /// later frame ends, now and in future; frames before it still get their budgets.
  void fail(std::int64_t number, const Status& why);

  /// For frames whose budget nobody has asked for yet. If the bucket is that of a second, another
  /// rate begins with another bucket, half full. Errors: invalid_argument.
  Status set_rate(std::int64_t bits_per_second, std::size_t max_frame_bytes);

  std::size_t bucket_bytes() const noexcept;

 private:
  struct Impl;
  explicit RateControl(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

}  // namespace zerorun
