// The sound of the input, played in step with the clock.
// SPDX-License-Identifier: MIT
#pragma once

#include <SDL.h>

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <thread>

#include "apps/play/decode_ahead.hpp"
#include "apps/play/session.hpp"
#include "apps/play/sound_queue.hpp"
#include "zerorun/source.hpp"

namespace zerorun::app {

/// A thread reads, SDL's thread plays. The clock is moved to the sound, so that the pictures follow
/// it. Not copied; the clock has to live longer.
class Sound {
 public:
  /// Null if the input has no sound that can be played; then `problem` says why, if that is worth a
  /// word.
  static std::unique_ptr<Sound> open(const PlayInput& input, MediaClock& clock,
                                     std::string& problem);
  ~Sound();
  Sound(const Sound&) = delete;
  Sound& operator=(const Sound&) = delete;

  void set_volume(int percent) { volume_ = percent; }
  int volume() const noexcept { return volume_; }
  void set_muted(bool muted) { is_muted_ = muted; }
  bool is_muted() const noexcept { return is_muted_; }

  SoundReport report() const;

 private:
  Sound(std::unique_ptr<io::AudioSource> source, double zero, MediaClock& clock);
  bool open_device(std::string& problem);
  void read();
  bool begin(const SoundQueue::Order& order);
  void play(std::span<float> out);

  std::unique_ptr<io::AudioSource> source_;  // the reader's
  const double zero_;                        // time of the first picture in the container
  MediaClock& clock_;
  SoundQueue queue_;
  SDL_AudioSpec spec_{};
  SDL_AudioDeviceID device_ = 0;
  std::atomic<int> volume_{100};
  std::atomic<bool> is_muted_{false}, stops_{false};
  std::atomic<double> played_{0}, drift_{0};
  struct StreamRelease {
    void operator()(SDL_AudioStream* p) const noexcept { SDL_FreeAudioStream(p); }
  };
  std::unique_ptr<SDL_AudioStream, StreamRelease> speed_;  // the reader's; null at the usual speed
  std::thread reader_;
};

}  // namespace zerorun::app
