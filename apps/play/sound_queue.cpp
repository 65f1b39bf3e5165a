// SPDX-License-Identifier: MIT
#include "apps/play/sound_queue.hpp"

#include <algorithm>
#include <cmath>

namespace zerorun::app {
namespace {

/// Sound that is read ahead; a step of the clock up to which the sound goes on; and the speeds at
/// which it can be understood.
constexpr double kAheadSeconds = 0.5, kInStep = 0.1, kSlowestSound = 0.25, kFastestSound = 4.0;

}  // namespace

SoundQueue::SoundQueue(int sample_rate, int channels)
    : rate_(sample_rate), channels_(static_cast<std::size_t>(channels)) {}

/// Of stream time.
double SoundQueue::seconds(std::size_t frame_count) const noexcept {
  return static_cast<double>(frame_count) / rate_ * speed_;
}

bool SoundQueue::add(std::span<const float> samples) {
  const std::lock_guard lock(mutex_);
  if (order_) return false;
  samples_.insert(samples_.end(), samples.begin(), samples.end());
  return true;
}

std::optional<SoundQueue::Order> SoundQueue::take_order() {
  const std::lock_guard lock(mutex_);
  if (!order_) return std::nullopt;
  const Order taken = *order_;
  order_.reset();
  samples_.clear();
  begin_ = taken.from;
  speed_ = taken.speed;
  ended_ = false;
  is_open_ = true;
  return taken;
}

void SoundQueue::set_ended() {
  const std::lock_guard lock(mutex_);
  if (!order_) ended_ = true;
}

bool SoundQueue::is_full() const {
  const std::lock_guard lock(mutex_);
  if (order_) return false;
  return !is_open_ || ended_ || static_cast<double>(frames()) > kAheadSeconds * rate_;
}

void SoundQueue::drop(std::size_t frame_count) {
  samples_.erase(samples_.begin(),
                 samples_.begin() + static_cast<std::ptrdiff_t>(frame_count * channels_));
  begin_ += seconds(frame_count);
}

void SoundQueue::order(const MediaClock::State& clock) {
  order_ = Order{clock.now, clock.speed};
  samples_.clear();
}

/// Whether the samples are, or are soon, those for this moment.
bool SoundQueue::is_usable(const MediaClock::State& clock) const {
  if (speed_ != clock.speed || clock.now < begin_ - kInStep) return false;
  return ended_ || clock.now <= begin_ + seconds(frames()) + kAheadSeconds;
}

std::optional<double> SoundQueue::fill(std::span<float> out, const MediaClock::State& clock) {
  std::fill(out.begin(), out.end(), 0.0F);
  const std::lock_guard lock(mutex_);
  if (!clock.is_running || clock.speed < kSlowestSound || clock.speed > kFastestSound)
    return std::nullopt;
  if (order_) {  // the reader is busy; it begins where the clock is then
    order_ = Order{clock.now, clock.speed};
    return std::nullopt;
  }
  if (!is_usable(clock)) {
    order(clock);
    return std::nullopt;
  }
  double ahead = begin_ - clock.now;
  if (ahead < -kInStep) {  // the clock has jumped forward
    drop(std::min(frames(), static_cast<std::size_t>(-ahead / speed_ * rate_)));
    ahead = begin_ - clock.now;
  }
  const std::size_t count = std::min(frames() * channels_, out.size());
  if (count == 0 || std::abs(ahead) > kInStep) return std::nullopt;
  std::copy_n(samples_.begin(), count, out.begin());
  drop(count / channels_);
  return ahead;
}

}  // namespace zerorun::app
