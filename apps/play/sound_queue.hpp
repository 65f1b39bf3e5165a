// Samples between the thread that reads them and the one that plays them, with their times.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <span>

#include "apps/play/decode_ahead.hpp"

namespace zerorun::app {

/// Chooses the samples to play now. It follows the clock where that jumps (a seek, a pause, another
/// speed), and tells how far the clock is from the sound where both run. Thread-safe.
class SoundQueue {
 public:
  /// What the reader has to do next.
  struct Order {
    double from, speed;  ///< seconds after the first picture; drop all samples and begin there
  };

  SoundQueue(int sample_rate, int channels);

  // The reader's calls.
  /// Adds samples that follow those before; false if an order came in the meantime: they are not
  /// wanted any more.
  bool add(std::span<const float> samples);
  /// The order to begin elsewhere, once.
  std::optional<Order> take_order();
  void set_ended();
  bool is_full() const;  ///< also while nothing is to be read

  // The player's calls.
  /// Fills `out` for the moment at which `clock` is, with silence where there is nothing to play.
  /// Returns how far the sound is ahead of the clock, in seconds, if it plays.
  std::optional<double> fill(std::span<float> out, const MediaClock::State& clock);

 private:
  std::size_t frames() const noexcept { return samples_.size() / channels_; }
  double seconds(std::size_t frame_count) const noexcept;
  void drop(std::size_t frame_count);
  void order(const MediaClock::State& clock);
  bool is_usable(const MediaClock::State& clock) const;

  const int rate_;
  const std::size_t channels_;
  mutable std::mutex mutex_;
  std::deque<float> samples_;
  double begin_ = 0, speed_ = 0;  // of samples_; speed 0: there was no order yet
  bool ended_ = false;            // no samples follow
  bool is_open_ = false;          // the reader has taken the last order
  std::optional<Order> order_;
};

}  // namespace zerorun::app
