// The window and the sound of `zerorun play`, by SDL.
// SPDX-License-Identifier: MIT
#pragma once

#include <SDL.h>
#include <SDL_ttf.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "apps/common/figures.hpp"
#include "apps/common/input_output.hpp"
#include "apps/common/process.hpp"
#include "apps/play/decode_ahead.hpp"
#include "apps/play/session.hpp"
#include "codec/base/try.hpp"
#include "zerorun/source.hpp"

namespace zerorun::app {

struct SdlRelease {
  void operator()(SDL_Window* p) const noexcept { SDL_DestroyWindow(p); }
  void operator()(SDL_Renderer* p) const noexcept { SDL_DestroyRenderer(p); }
  void operator()(SDL_Texture* p) const noexcept { SDL_DestroyTexture(p); }
  void operator()(SDL_Surface* p) const noexcept { SDL_FreeSurface(p); }
  void operator()(SDL_AudioStream* p) const noexcept { SDL_FreeAudioStream(p); }
  void operator()(TTF_Font* p) const noexcept { TTF_CloseFont(p); }
};
template <typename T>
using SdlPtr = std::unique_ptr<T, SdlRelease>;

[[noreturn]] inline void fail_without_window(const std::string& why) {
  fail(Exit::device, "no window can be opened: " + why + "; --no-window decodes without one");
}

/// Initialises SDL's video while it exists. Ends the command (exit 5) if there is no display.
class SdlVideo {
 public:
  SdlVideo() {
    SDL_SetHint(SDL_HINT_NO_SIGNAL_HANDLERS, "1");  // the program has its own
    SDL_SetHint(SDL_HINT_VIDEO_ALLOW_SCREENSAVER, "0");
    SDL_SetHint(SDL_HINT_APP_NAME, "zerorun");
    // Without this folder Wayland cannot work, and its library would say so on stderr.
    if (std::getenv("XDG_RUNTIME_DIR") == nullptr) SDL_SetHint(SDL_HINT_VIDEODRIVER, "x11,kmsdrm");
    if (SDL_Init(SDL_INIT_VIDEO) != 0) fail_without_window(kNoDisplay);
    const char* driver = SDL_GetCurrentVideoDriver();
    if (std::getenv("SDL_VIDEODRIVER") != nullptr || driver == nullptr) return;
    // Drivers without a screen, which SDL uses if it finds no other.
    if (is_one_of(driver, {"offscreen", "dummy", "evdev"})) {
      SDL_Quit();
      fail_without_window(kNoDisplay);
    }
  }
  ~SdlVideo() { SDL_Quit(); }
  SdlVideo(const SdlVideo&) = delete;
  SdlVideo& operator=(const SdlVideo&) = delete;

 private:
  /// SDL's own message would name its drivers.
  static constexpr const char* kNoDisplay =
      "there is no display (DISPLAY and WAYLAND_DISPLAY name none that answers)";
};

class Window {
 public:
  /// A window for a picture of this size, smaller than the screen. Ends the command (exit 5) on
  /// errors.
  Window(const std::string& title, int width, int height, bool full_screen) {
    const SDL_Point size = fitting_size(width, height);
    // JPEG is full range; SDL assumes limited range by default.
    SDL_SetYUVConversionMode(SDL_YUV_CONVERSION_JPEG);
    // Hidden at first, because SDL may replace the window when it makes the renderer.
    const Uint32 flags = SDL_WINDOW_HIDDEN | SDL_WINDOW_RESIZABLE | SDL_WINDOW_ALLOW_HIGHDPI |
                         (full_screen ? Uint32{SDL_WINDOW_FULLSCREEN_DESKTOP} : 0u);
    window_.reset(SDL_CreateWindow(title.c_str(), SDL_WINDOWPOS_CENTERED, SDL_WINDOWPOS_CENTERED,
                                   size.x, size.y, flags));
    if (!window_) fail_without_window(SDL_GetError());
    renderer_.reset(SDL_CreateRenderer(window_.get(), -1, SDL_RENDERER_PRESENTVSYNC));
    if (!renderer_) renderer_.reset(SDL_CreateRenderer(window_.get(), -1, SDL_RENDERER_SOFTWARE));
    if (!renderer_) fail_without_window(SDL_GetError());
    SDL_SetRenderDrawBlendMode(renderer_.get(), SDL_BLENDMODE_BLEND);
    SDL_ShowWindow(window_.get());
    SDL_StartTextInput();
    update_scale();
  }

  SDL_Renderer* renderer() const noexcept { return renderer_.get(); }
  /// Of the drawing area, in pixels.
  SDL_Point size() const {
    SDL_Point size{1, 1};
    SDL_GetRendererOutputSize(renderer_.get(), &size.x, &size.y);
    return size;
  }
  /// In the same coordinates.
  SDL_FPoint mouse() const {
    int x = 0, y = 0;
    SDL_GetMouseState(&x, &y);
    SDL_FPoint point{};
    SDL_RenderWindowToLogical(renderer_.get(), x, y, &point.x, &point.y);
    return point;
  }
  /// Pixels of the window for each pixel of an ordinary screen (96 dots an inch), 1 to 8.
  double scale() const noexcept { return scale_; }
  /// Asks again, after the window came to another screen: the display server, the desktop's
  /// GDK_SCALE or QT_SCALE_FACTOR, or SDL.
  void update_scale() {
    constexpr double kUsualDpi = 96.0, kLargestScale = 8.0;
    int units = 0, height = 0;  // of the window's size, which Wayland and macOS scale
    SDL_GetWindowSize(window_.get(), &units, &height);
    scale_ = static_cast<double>(size().x) / std::max(units, 1);
    if (scale_ <= 1)
      scale_ =
          std::max(positive(std::getenv("GDK_SCALE")), positive(std::getenv("QT_SCALE_FACTOR")));
    float dpi = 0;
    const int display = SDL_GetWindowDisplayIndex(window_.get());
    if (scale_ == 0 && SDL_GetDisplayDPI(display, &dpi, nullptr, nullptr) == 0)
      scale_ = static_cast<double>(dpi) / kUsualDpi;
    scale_ = std::clamp(scale_, 1.0, kLargestScale);
  }
  void set_title(const std::string& title) { SDL_SetWindowTitle(window_.get(), title.c_str()); }
  void toggle_full_screen() {
    const bool is_full = (SDL_GetWindowFlags(window_.get()) & SDL_WINDOW_FULLSCREEN_DESKTOP) != 0;
    SDL_SetWindowFullscreen(window_.get(), is_full ? 0u : Uint32{SDL_WINDOW_FULLSCREEN_DESKTOP});
  }

 private:
  /// A positive number; 0 for anything else.
  static double positive(const char* text) {
    const auto value = parse_number<double>(text == nullptr ? "" : text);
    return value && std::isfinite(*value) && *value > 0 ? *value : 0;
  }

  /// The size of the picture, reduced to fit on the screen.
  static SDL_Point fitting_size(int width, int height) {
    SDL_Rect screen{0, 0, 1280, 720};
    SDL_GetDisplayUsableBounds(0, &screen);
    constexpr double kShare = 0.9;  // the rest is for frames and bars of the desktop
    const double scale = std::min({1.0, kShare * screen.w / width, kShare * screen.h / height});
    constexpr int kLeastWidth = 480, kLeastHeight = 270;  // the information must fit
    return {std::max(static_cast<int>(width * scale + 0.5), std::min(kLeastWidth, screen.w)),
            std::max(static_cast<int>(height * scale + 0.5), std::min(kLeastHeight, screen.h))};
  }

  SdlPtr<SDL_Window> window_;
  SdlPtr<SDL_Renderer> renderer_;
  double scale_ = 1.0;
};

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
    SDL_AudioSpec wanted{};
    wanted.freq = kRate;
    wanted.format = AUDIO_F32SYS;
    wanted.channels = kChannels;
    wanted.samples = kDeviceFrames;
    wanted.userdata = sound.get();
    wanted.callback = [](void* self, Uint8* out, int bytes) {
      static_cast<Sound*>(self)->play(
          {reinterpret_cast<float*>(out), static_cast<std::size_t>(bytes) / sizeof(float)});
    };
    if (SDL_InitSubSystem(SDL_INIT_AUDIO) == 0)
      sound->device_ = SDL_OpenAudioDevice(nullptr, 0, &wanted, &sound->spec_, 0);
    if (sound->device_ == 0) {
      problem = SDL_GetError();
      return nullptr;
    }
    SDL_PauseAudioDevice(sound->device_, 0);
    return sound;
  }
  ~Sound() {
    if (device_ != 0) SDL_CloseAudioDevice(device_);  // waits for the callback
    SDL_QuitSubSystem(SDL_INIT_AUDIO);
  }
  Sound(const Sound&) = delete;
  Sound& operator=(const Sound&) = delete;

  std::atomic<int> volume{100};  ///< per cent
  std::atomic<bool> is_muted{false};

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
    const float gain = is_muted ? 0.0F : float(volume) / 100.0F;
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
  std::atomic<double> played_{0}, drift_{0};
  SdlPtr<SDL_AudioStream> changer_;  // of the speed; null at the usual one
  double at_ = 0, speed_ = 0;        // stream time of the next sample; speed 0: none was read yet
  bool ended_ = false;               // no sample follows
};

}  // namespace zerorun::app
