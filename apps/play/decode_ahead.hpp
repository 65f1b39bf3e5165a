// Frames decoded ahead of the time at which they are shown, side by side and in order.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "apps/common/options.hpp"
#include "apps/play/media_clock.hpp"
#include "apps/play/play_frame.hpp"
#include "apps/play/play_input.hpp"

namespace zerorun::app {

/// What became of the frames so far.
struct DecodeCounts {
  std::int64_t decoded = 0;
  std::int64_t dropped = 0;  ///< too late, and therefore never decoded
  std::int64_t concealed = 0;
  std::int64_t staged = 0;  ///< with scans that a GPU decoded stage by stage
  std::int64_t broken = 0;  ///< no picture came of them
  std::int64_t bytes = 0;   ///< of the JPEG streams that were decoded
  double total_ms = 0, max_ms = 0;
  double recent_ms = 0;  ///< decoding a frame, as it is of late
};

/// A thread reads, others decode, the caller takes the frames in order. A bounded number of frames
/// and bytes waits in between, however long the input is. All calls come from one thread.
class DecodeAhead {
 public:
  /// Where and how frames are decoded.
  struct Decoding {
    Backend backend = Backend::cpu;
    DeviceOptions device;
    Pixels pixels = Pixels::shown;
    StreamLimits limits;
  };

  /// Frames that `clock` calls too late are dropped before they are decoded; null = none are.
  DecodeAhead(std::shared_ptr<PlayInput> input, const Decoding& decoding, const MediaClock* clock);
  ~DecodeAhead();
  DecodeAhead(const DecodeAhead&) = delete;
  DecodeAhead& operator=(const DecodeAhead&) = delete;

  /// Forgets what waits and goes on at the frame that is shown at `pts`.
  void seek(std::int64_t pts);
  /// Frames that are not begun yet are decoded there.
  void set_decoding(const Decoding& decoding);

  /// The next frame if it is decoded, with or without a picture; dropped ones are passed over.
  const PlayFrame* peek();
  /// When the next frame is shown, also while it is still being decoded; < 0 = not known.
  double next_time();
  std::unique_ptr<PlayFrame> take();
  /// Gives the memory of a frame back.
  void recycle(std::unique_ptr<PlayFrame> frame);
  /// Waits up to `seconds` for peek() or is_over() to change.
  void wait(double seconds);

  /// True after the last frame was taken.
  bool is_over();
  /// Nothing is there to be decoded: the input is slower than the player.
  bool is_starved();
  int waiting();  ///< frames that are decoded and not yet taken
  DecodeCounts counts();
  /// Why reading ended before the end of the input; ok if it did not.
  Status read_problem();

 private:
  struct State;
  static void read_all(std::shared_ptr<State> state);
  static void work_all(std::shared_ptr<State> state, int worker);

  std::shared_ptr<State> state_;
  struct Threads;
  void stop();
  std::unique_ptr<Threads> threads_;
};

}  // namespace zerorun::app
