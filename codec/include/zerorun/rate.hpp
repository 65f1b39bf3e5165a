// Rate control: how many bytes each frame of a video may take, by a leaky bucket.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "zerorun/status.hpp"

namespace zerorun {

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
