// What the threads of DecodeAhead share: frames between the reader, the decoders and the screen.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>

#include "apps/play/decode_ahead.hpp"

namespace zerorun::app {

struct DecodeSlot {
  enum class Step { waiting, working, done, dropped };
  std::unique_ptr<PlayFrame> frame;
  Step step = Step::waiting;
  bool is_first = false;  ///< after the start or a seek: it is shown however long it takes
};

/// Guarded by `mutex` but for what is said otherwise.
struct DecodeAhead::State {
  using Clock = std::chrono::steady_clock;
  using SlotPtr = std::shared_ptr<DecodeSlot>;

  State(std::shared_ptr<PlayInput> in, const Decoding& how, const MediaClock* when);

  /// Of frames that are decoded or being decoded; a packet takes little memory beside one.
  bool may_decode_more() const noexcept;
  bool may_read_more() const noexcept;
  /// The first slot that no decoder has begun; null if there is none.
  SlotPtr next_to_decode();
  bool is_too_late(const DecodeSlot& slot) const;
  void pass_dropped();
  std::unique_ptr<PlayFrame> spare_frame();
  /// Gives `frame` memory for a picture; packets that wait have none.
  void lend_picture(PlayFrame& frame);
  void recycle(std::unique_ptr<PlayFrame> frame);
  void count(const PlayFrame& frame);

  const std::shared_ptr<PlayInput> input;  // the reader thread's, after the start
  const MediaClock* const clock;

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<SlotPtr> queue;
  std::vector<std::unique_ptr<PlayFrame>> spare;
  std::vector<Frame> spare_pictures;
  std::int64_t queued_bytes = 0;  // of the JPEG streams in the queue
  int held_frames = 0;            // slots that hold a picture or get one
  int working = 0;
  int max_frames = 3;

  Decoding decoding;
  int generation = 0;  // of `decoding`
  std::optional<std::int64_t> seek_to;
  bool next_is_first = true;
  int failures_in_a_row = 0;
  bool ended = false;
  bool reading = false;
  bool stopping = false;
  bool reader_done = false;
  Clock::time_point last_done = Clock::now();
  DecodeCounts counts;
  Status read_problem;
};

}  // namespace zerorun::app
