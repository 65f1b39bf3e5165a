// The sound of the input, played in step with the clock.
// SPDX-License-Identifier: MIT
#pragma once

#include <SDL.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "apps/play/decode_ahead.hpp"
#include "apps/play/session.hpp"
#include "apps/play/window.hpp"
#include "codec/base/try.hpp"
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
                                     std::string& problem) {
    const bool is_in_step = input.name() != "-" && !input.has_own_rate();
    if (!input.info().has_audio || !is_in_step) return nullptr;
    auto source = io::open_audio(input.name(), {kRate, kChannels});
    if (!source) {
      problem = source.status().message();
      return nullptr;
    }
    const double zero =
        static_cast<double>(input.info().first_pts) * input.info().time_base.value();
    std::unique_ptr<Sound> sound(new Sound(*std::move(source), zero, clock));
    if (!sound->open_device(problem)) return nullptr;
    SDL_PauseAudioDevice(sound->device_, 0);
    return sound;
  }
  ~Sound() {
    if (device_ != 0) SDL_CloseAudioDevice(device_);  // waits for the callback
    SDL_QuitSubSystem(SDL_INIT_AUDIO);
  }
  Sound(const Sound&) = delete;
  Sound& operator=(const Sound&) = delete;

  void set_volume(int percent) { volume_ = percent; }
  int volume() const noexcept { return volume_; }
  void set_muted(bool muted) { is_muted_ = muted; }
  bool is_muted() const noexcept { return is_muted_; }

  SoundReport report() const {
    const char* driver = SDL_GetCurrentAudioDriver();
    return {driver == nullptr ? "" : driver, played_, drift_};
  }

 private:
  static constexpr int kRate = 48000, kChannels = 2;
  static constexpr Uint16 kDeviceFrames = 1024;  ///< 21 ms
  static constexpr std::size_t kReadSamples = 4096;
  /// A step of the clock up to which the sound goes on; a gap up to which it is read and not heard,
  /// which takes less time than a seek; and the speeds at which it can be understood.
  static constexpr double kInStep = 0.1, kReadOver = 0.5, kSlowestSound = 0.25, kFastestSound = 4.0;
  /// The part of its distance from the sound by which the clock moves each time the device asks for
  /// samples: quick enough for any device's rate, too slow to be seen.
  static constexpr double kSteer = 0.2;

  Sound(std::unique_ptr<io::AudioSource> source, double zero, MediaClock& clock)
      : source_(std::move(source)), zero_(zero), clock_(clock) {}
  bool open_device(std::string& problem) {
    SDL_AudioSpec wanted{};
    wanted.freq = kRate;
    wanted.format = AUDIO_F32SYS;
    wanted.channels = kChannels;
    wanted.samples = kDeviceFrames;
    wanted.userdata = this;
    wanted.callback = [](void* self, Uint8* out, int bytes) {
      static_cast<Sound*>(self)->play(
          {reinterpret_cast<float*>(out), static_cast<std::size_t>(bytes) / sizeof(float)});
    };
    if (SDL_InitSubSystem(SDL_INIT_AUDIO) == 0)
      device_ = SDL_OpenAudioDevice(nullptr, 0, &wanted, &spec_, 0);
    if (device_ == 0) problem = SDL_GetError();
    return device_ != 0;
  }

  // SDL's thread.
  void play(std::span<float> out) {
    // These samples are heard when the device has played the buffer before them.
    const auto when_heard = [this] {
      MediaClock::State state = clock_.state();
      state.now += state.speed * spec_.samples / spec_.freq;
      return state;
    };
    std::fill(out.begin(), out.end(), 0.0F);
    MediaClock::State clock = when_heard();
    if (!clock.is_running || clock.speed < kSlowestSound || clock.speed > kFastestSound) return;
    if (speed_ != clock.speed || at_ > clock.now + kInStep ||
        (!ended_ && at_ < clock.now - kReadOver)) {
      begin(clock);
      clock = when_heard();
    }
    if (at_ < clock.now - kInStep)
      while (!ended_ && at_ < clock.now) read(out);
    const double ahead = at_ - clock.now;
    const std::size_t count = read(out);
    if (count == 0) return;
    clock_.steer(kSteer * ahead);
    played_ = played_ + static_cast<double>(count) / kChannels / kRate;
    drift_ = drift_ + 0.02 * (std::abs(ahead) * 1e3 - drift_);
    const float gain = is_muted_ ? 0.0F : static_cast<float>(volume_) / 100.0F;
    for (float& sample : out) sample *= gain * gain;  // loudness is nearer to the square
  }
  void begin(const MediaClock::State& clock) {
    at_ = clock.now;
    speed_ = clock.speed;
    changer_.reset();
    if (speed_ != 1.0)
      changer_.reset(SDL_NewAudioStream(AUDIO_F32SYS, kChannels,
                                        static_cast<int>(std::lround(kRate * speed_)), AUDIO_F32SYS,
                                        kChannels, kRate));
    ended_ = !source_->seek(at_ + zero_);
  }
  /// Returns how many samples there are, and puts silence behind the last.
  std::size_t read(std::span<float> out) {
    std::size_t count = 0;
    while (!ended_ && count < out.size()) {
      const auto more = read_some(out.subspan(count));
      ended_ = !more || *more == 0;
      if (!ended_) count += *more;
    }
    std::fill(out.begin() + static_cast<std::ptrdiff_t>(count), out.end(), 0.0F);
    at_ += speed_ * static_cast<double>(count) / kChannels / kRate;
    return count;
  }
  /// The next samples at the clock's speed; none at the end.
  Result<std::size_t> read_some(std::span<float> out) {
    if (!changer_) return source_->read(out);
    std::array<float, kReadSamples> samples;
    for (;;) {
      const int bytes =
          SDL_AudioStreamGet(changer_.get(), out.data(), static_cast<int>(out.size_bytes()));
      if (bytes > 0) return static_cast<std::size_t>(bytes) / sizeof(float);
      ZR_LET(count, source_->read(samples));
      if (count == 0) return count;
      SDL_AudioStreamPut(changer_.get(), samples.data(), static_cast<int>(count * sizeof(float)));
    }
  }

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
