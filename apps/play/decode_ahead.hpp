// Frames decoded ahead of the time at which they are shown, side by side and in order.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "apps/common/options.hpp"
#include "apps/play/media_clock.hpp"
#include "apps/play/play_input.hpp"
#include "codec/base/flight_ring.hpp"

namespace zerorun::app {

/// What happened to the frames so far.
struct DecodeCounts {
  std::int64_t decoded = 0;
  std::int64_t dropped = 0;  ///< too late, and therefore never decoded
  std::int64_t concealed = 0;
  std::int64_t on_cpu = 0;  ///< with scans that the CPU decoded beside a GPU
  std::int64_t broken = 0;  ///< without a picture
  std::int64_t bytes = 0;   ///< of the JPEG streams that were decoded
  double total_ms = 0, max_ms = 0;
  double recent_ms = 0;  ///< moving average of the time that decoding a frame takes
};

/// One thread reads, others decode, and the caller takes the frames in order. The number of frames
/// and bytes in flight is bounded. One thread makes all calls.
class DecodeAhead {
 public:
  /// Where and how frames are decoded.
  struct Decoding {
    Backend backend = Backend::cpu;
    DeviceOptions device;
    Pixels pixels = Pixels::shown;
    StreamLimits limits;
  };

  /// Frames that are too late by `clock` are dropped before they are decoded; with null none are.
  DecodeAhead(std::shared_ptr<PlayInput> input, const Decoding& decoding, const MediaClock* clock);
  ~DecodeAhead();

  /// Drops the frames in flight and continues with the frame that is shown at `pts`.
  void seek(std::int64_t pts);
  /// Applies to frames that no thread has begun to decode.
  void set_decoding(const Decoding& decoding);

  /// The next frame if it is decoded, with or without a picture; null if not. Skips dropped ones.
  const PlayFrame* peek() const { return ring_.oldest(true); }
  /// When the next frame is shown, also while it is being decoded; < 0 = not known.
  double next_time() const;
  /// The frame of peek(), which must not be null.
  std::unique_ptr<PlayFrame> take();
  /// Gives the memory of a frame back.
  void recycle(std::unique_ptr<PlayFrame> frame);
  /// Waits until peek() or is_over() changes, but at most `seconds`.
  void wait(double seconds) { ring_.wait_ready(std::chrono::duration<double>(seconds)); }

  /// True after the last frame was taken.
  bool is_over() const;
  /// No frame is in flight, and the input has not ended: it is slower than the player.
  bool is_starved() const;
  int waiting() const { return ring_.flight().finished; }  ///< frames decoded and not yet taken
  DecodeCounts counts() const;
  /// The devices that failed since the last set_decoding(), and why.
  std::vector<LostDevice> lost_devices() const;
  /// Why reading stopped before the end of the input; ok if it did not.
  Status read_problem() const;

 private:
  struct Shared;
  struct Decoders;
  bool decode(PlayFrame& frame, int lane);

  std::shared_ptr<Shared> shared_;  // with the reader thread
  const MediaClock* clock_;
  std::vector<std::unique_ptr<PlayFrame>> spare_;
  int seeks_ = 0;
  FlightRing<PlayFrame> ring_;
};

}  // namespace zerorun::app
