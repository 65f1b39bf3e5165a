// The sound of the input, played in step with the clock.
// SPDX-License-Identifier: MIT
#pragma once

#include <SDL.h>

#include <atomic>
#include <memory>
#include <span>
#include <string>

#include "apps/play/decode_ahead.hpp"
#include "apps/play/session.hpp"
#include "apps/play/window.hpp"
#include "zerorun/source.hpp"

namespace zerorun::app {

/// SDL's thread reads and plays. Where the clock jumps (a seek, a pause, another speed) the sound
/// follows it; else the clock is moved to the sound, so that the pictures follow it. Not copied;
/// the clock has to live longer.
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

  // SDL's thread.
  void play(std::span<float> out);
  void begin(const MediaClock::State& clock);
  std::size_t read(std::span<float> out);
  Result<std::size_t> read_some(std::span<float> out);

  std::unique_ptr<io::AudioSource> source_;
  const double zero_;  // time of the first picture in the container
  MediaClock& clock_;
  SDL_AudioSpec spec_{};
  SDL_AudioDeviceID device_ = 0;
  std::atomic<int> volume_{100};
  std::atomic<bool> is_muted_{false};
  std::atomic<double> played_{0}, drift_{0};
  SdlPtr<SDL_AudioStream> changer_;  // of the speed; null at the usual one
  double at_ = 0, speed_ = 0;        // stream time of the next sample; speed 0: none was read yet
  bool ended_ = false;               // no sample follows
};

}  // namespace zerorun::app
