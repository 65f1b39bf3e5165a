// The frames that zerorunenc has in flight, and the thread that delivers them.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include <gst/video/gstvideoencoder.h>

#include "io/ycc_to_jfif.hpp"
#include "zerorun/async.hpp"

namespace zerorun::gst {

/// A codec frame and the mapping of its samples.
class PendingFrame {
 public:
  /// Takes the reference. Errors: out_of_memory (the buffer cannot be mapped).
  static Result<PendingFrame> map(GstVideoCodecFrame* frame, const GstVideoInfo& info);
  PendingFrame(PendingFrame&& other) noexcept;
  PendingFrame& operator=(PendingFrame&&) = delete;
  ~PendingFrame();

  const GstVideoFrame& samples() const noexcept { return samples_; }
  void unmap() noexcept;
  /// Unmaps the frame and gives its reference to the caller.
  GstVideoCodecFrame* release() noexcept;
  std::int64_t age_ns() const noexcept { return (g_get_monotonic_time() - since_us_) * 1000; }

 private:
  PendingFrame(GstVideoCodecFrame* frame, const GstVideoFrame& samples) noexcept
      : frame_(frame), samples_(samples), since_us_(g_get_monotonic_time()) {}

  GstVideoCodecFrame* frame_;
  GstVideoFrame samples_;
  bool mapped_ = true;
  gint64 since_us_;
};

/// One thread at a time may call members, and must not hold the lock that `deliver` takes.
class EncodeSession {
 public:
  /// Called by the session's thread in the order of submit(). Takes the reference to the frame.
  using Deliver =
      std::function<void(GstVideoCodecFrame* frame, const EncodedFrame& coded, std::int64_t ns)>;

  /// Errors: those of AsyncEncoder::create() and coding_of(), out_of_memory.
  static Result<std::unique_ptr<EncodeSession>> create(const AsyncEncodeParams& params,
                                                       const GstVideoInfo& info, Deliver deliver);
  EncodeSession(const EncodeSession&) = delete;
  EncodeSession& operator=(const EncodeSession&) = delete;
  ~EncodeSession();

  /// Takes the reference to the frame, even if it fails, and waits for a place in the queue.
  Status submit(GstVideoCodecFrame* frame, int quality);
  /// Waits until everything is delivered.
  void drain();
  /// Drops what is in flight.
  void discard();

  int in_flight() const noexcept { return encoder_.in_flight(); }
  int lanes() const noexcept { return encoder_.lanes(); }
  Backend backend() const noexcept { return encoder_.backend(); }

 private:
  EncodeSession(AsyncEncoder encoder, const GstVideoInfo& info, Deliver deliver)
      : encoder_(std::move(encoder)), info_(info), deliver_(std::move(deliver)) {}
  void run();
  std::optional<PendingFrame> take(std::uint64_t tag);
  Status enqueue(std::uint64_t tag, const ConstFrameView& view, int quality);
  /// To the planar frame of the same sampling with samples as JPEG means them.
  Status convert(const ConstFrameView& in, Frame& out);

  AsyncEncoder encoder_;
  GstVideoInfo info_;
  Deliver deliver_;
  std::optional<io::YccToJfif> to_jfif_;  // for input that is not coded as JPEG's samples are
  Frame planes_;                          // of packed and semi-planar input
  std::thread thread_;
  std::uint64_t next_tag_ = 0;

  std::mutex mutex_;  // guards what follows
  std::map<std::uint64_t, PendingFrame> pending_;
  std::vector<Frame> spare_;  // converted frames that came back
};

}  // namespace zerorun::gst
