// SPDX-License-Identifier: MIT
#include "apps/play/sound.hpp"

#include <array>
#include <chrono>
#include <cmath>
#include <system_error>
#include <utility>

namespace zerorun::app {
namespace {

constexpr int kRate = 48000, kChannels = 2;
constexpr Uint16 kDeviceFrames = 1024;  ///< 21 ms
constexpr std::size_t kReadSamples = 4096;

/// The part of its distance from the sound by which the clock moves each time the device asks for
/// samples: quick enough for any device's rate, too slow to be seen.
constexpr double kSteer = 0.2;

bool can_have_sound(const PlayInput& input) {
  return input.info().has_audio && input.name() != "-" && !input.has_own_rate();
}

}  // namespace

Sound::Sound(std::unique_ptr<io::AudioSource> source, double zero, MediaClock& clock)
    : source_(std::move(source)), zero_(zero), clock_(clock), queue_(kRate, kChannels) {}

Sound::~Sound() {
  if (device_ != 0) SDL_CloseAudioDevice(device_);  // waits for the callback
  stops_ = true;
  if (reader_.joinable()) reader_.join();
  SDL_QuitSubSystem(SDL_INIT_AUDIO);
}

std::unique_ptr<Sound> Sound::open(const PlayInput& input, MediaClock& clock,
                                   std::string& problem) {
  if (!can_have_sound(input)) return nullptr;
  auto source = io::open_audio(input.name(), {kRate, kChannels});
  if (!source) {
    problem = source.status().message();
    return nullptr;
  }
  const double zero = static_cast<double>(input.info().first_pts) * input.info().time_base.value();
  std::unique_ptr<Sound> sound(new Sound(*std::move(source), zero, clock));
  if (!sound->open_device(problem)) return nullptr;
  try {
    sound->reader_ = std::thread([raw = sound.get()] { raw->read(); });
  } catch (const std::system_error& error) {
    problem = error.what();
    return nullptr;
  }
  SDL_PauseAudioDevice(sound->device_, 0);
  return sound;
}

bool Sound::open_device(std::string& problem) {
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

/// Runs on SDL's thread.
void Sound::play(std::span<float> out) {
  MediaClock::State state = clock_.state();
  // These samples are heard when the device has played the buffer before them.
  state.now += state.speed * spec_.samples / spec_.freq;
  const auto ahead = queue_.fill(out, state);
  if (!ahead) return;
  clock_.steer(kSteer * *ahead);
  played_ = played_ + static_cast<double>(out.size()) / kChannels / kRate;
  drift_ = drift_ + 0.02 * (std::abs(*ahead) * 1e3 - drift_);
  const float gain = is_muted_ ? 0.0F : static_cast<float>(volume_) / 100.0F;
  for (float& sample : out) sample *= gain * gain;  // loudness is nearer to the square
}

bool Sound::begin(const SoundQueue::Order& order) {
  speed_.reset();
  if (order.speed != 1.0)
    speed_.reset(SDL_NewAudioStream(AUDIO_F32SYS, kChannels,
                                    static_cast<int>(std::lround(kRate * order.speed)),
                                    AUDIO_F32SYS, kChannels, kRate));
  return static_cast<bool>(source_->seek(order.from + zero_));
}

/// The reader thread.
void Sound::read() {
  std::array<float, kReadSamples> samples;
  while (!stops_) {
    if (queue_.is_full()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      continue;
    }
    bool is_good = true;
    if (const auto order = queue_.take_order()) is_good = begin(*order);
    const auto count = is_good ? source_->read(samples) : Result<std::size_t>(std::size_t{0});
    if (!count || *count == 0) {
      queue_.set_ended();
    } else if (!speed_) {
      queue_.add({samples.data(), *count});
    } else {
      SDL_AudioStreamPut(speed_.get(), samples.data(), static_cast<int>(*count * sizeof(float)));
      for (int got = 1; got > 0;) {
        got = SDL_AudioStreamGet(speed_.get(), samples.data(), sizeof samples);
        if (got > 0) queue_.add({samples.data(), static_cast<std::size_t>(got) / sizeof(float)});
      }
    }
  }
}

SoundReport Sound::report() const {
  const char* driver = SDL_GetCurrentAudioDriver();
  return {driver == nullptr ? "" : driver, played_, drift_};
}

}  // namespace zerorun::app
