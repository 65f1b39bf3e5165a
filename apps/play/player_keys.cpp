// What the keys do in the player's window; play.cpp has the same list for people.
// SPDX-License-Identifier: MIT
#include "apps/play/player.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "apps/play/decode_ahead.hpp"
#include "codec/base/try.hpp"

namespace zerorun::app {
namespace {

namespace fs = std::filesystem;

/// A path that does not exist yet, from the name of the input (in a sequence: of the file) and the
/// index.
Result<std::string> free_path(const PlayInput& input, const PlayFrame& frame,
                              const std::string& directory, const char* extension) {
  std::string stem = fs::path(input.is_images() ? frame.name : input.name()).stem().string();
  if (stem == "-" || stem.empty()) stem = "stdin";
  const std::string base =
      (fs::path(directory) / fmt::format("{}-{:06}", stem, frame.index)).string();
  constexpr int kMostCopies = 1000;
  for (int copy = 1; copy <= kMostCopies; ++copy) {
    const std::string path =
        base + (copy > 1 ? fmt::format("-{}", copy) : std::string()) + "." + extension;
    std::error_code error;
    if (!fs::exists(path, error)) return path;
  }
  return Status(Errc::output_exists, "'" + base + "." + extension + "' and its copies");
}

Status write_file(const std::string& path, const std::vector<std::byte>& bytes) {
  const auto failed = [&path] {
    return Status(Errc::write_failed, "'" + path + "': " + std::strerror(errno));
  };
  std::FILE* file = std::fopen(path.c_str(), "wbx");  // x: fails if the file exists
  if (file == nullptr) return failed();
  const bool is_whole = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  if (std::fclose(file) == 0 && is_whole) return Status::ok();
  const Status status = failed();
  std::remove(path.c_str());
  return status;
}

/// Both write NAME-INDEX.ext into `directory`, or NAME-INDEX-2.ext and so on if that exists, and
/// return the path. save_jpeg() writes the bytes of the input unchanged.
Result<std::string> save_jpeg(const PlayInput& input, const PlayFrame& frame,
                              const std::string& directory) {
  if (frame.jpeg.empty())
    return Status(Errc::invalid_argument,
                  "this input is not a JPEG stream; Shift+s saves a picture");
  auto path = free_path(input, frame, directory, "jpg");
  if (!path) return path;
  ZR_TRY(write_file(*path, frame.jpeg));
  return path;
}

/// PNG, or PPM in a build without OpenCV. JPEG is decoded again to RGB, with the chroma filter of
/// the decoder instead of the screen's.
Result<std::string> save_picture(const PlayInput& input, const PlayFrame& frame,
                                 const std::string& directory) {
  auto path = free_path(input, frame, directory, io::features().opencv ? "png" : "ppm");
  if (!path) return path;
  ConstFrameView view = frame.frame.view();
  Frame rgb;
  if (!frame.jpeg.empty()) {
    const bool is_gray = view.format == PixelFormat::gray8;
    ZR_LET(decoded, decode_again(frame, is_gray ? PixelFormat::gray8 : PixelFormat::rgb24));
    rgb = std::move(decoded);
    view = std::as_const(rgb).view();
  }
  io::SinkOptions options;
  options.width = view.width;
  options.height = view.height;
  auto sink = io::open_frame_sink({*path, "", {}}, options);
  if (!sink) return sink.status();
  ZR_TRY((*sink)->write(view, {}));
  ZR_TRY((*sink)->finish());
  return path;
}

}  // namespace

struct Player::Binding {
  std::array<SDL_Keycode, 3> keys;  // a character each, or a key that writes none; 0: unused
  void (*act)(Player&);
  bool repeats = false;  // while the key is held
};

/// Capital letters that are not listed mean the same as the small ones.
std::span<const Player::Binding> Player::bindings() {
  static constexpr Binding kBindings[] = {
      {{' ', 'p'}, [](Player& p) { p.playback_.pause_or_go_on(); }},
      {{'.'}, [](Player& p) { p.playback_.step_forward(); }, true},
      {{','}, [](Player& p) { p.playback_.step_back(); }, true},
      {{SDLK_LEFT}, [](Player& p) { p.playback_.seek_by(-1); }, true},
      {{SDLK_RIGHT}, [](Player& p) { p.playback_.seek_by(1); }, true},
      {{SDLK_DOWN}, [](Player& p) { p.playback_.seek_by(-10); }, true},
      {{SDLK_UP}, [](Player& p) { p.playback_.seek_by(10); }, true},
      {{SDLK_HOME}, [](Player& p) { p.playback_.seek_to_start(); }},
      {{SDLK_END}, [](Player& p) { p.playback_.seek_to_end(); }},
      {{'['}, [](Player& p) { p.change_speed(1 / 1.1); }, true},
      {{']'}, [](Player& p) { p.change_speed(1.1); }, true},
      {{SDLK_BACKSPACE}, [](Player& p) { p.change_speed(0); }},
      {{'l'},
       [](Player& p) {
         p.playback_.toggle_loop(), p.say(p.playback_.loops() ? "loop" : "no loop");
       }},
      {{'a'},
       [](Player& p) {
         p.playback_.mark_a(), p.say("A " + time_text(p.playback_.a().value_or(0)));
       }},
      {{'b'},
       [](Player& p) {
         p.playback_.mark_b(), p.say("B " + time_text(p.playback_.b().value_or(0)));
       }},
      {{'A'}, [](Player& p) { p.playback_.clear_marks(), p.say("no A, no B"); }},
      {{'m'}, [](Player& p) { p.toggle_mute(); }},
      {{'9', '/'}, [](Player& p) { p.change_volume(-5); }, true},
      {{'0', '*'}, [](Player& p) { p.change_volume(5); }, true},
      {{'f'}, [](Player& p) { p.window_.toggle_full_screen(); }},
      {{'o', 'i'}, [](Player& p) { p.with_osd_ = !p.with_osd_; }},
      {{'h', '?', SDLK_F1}, [](Player& p) { p.with_help_ = !p.with_help_; }},
      {{'z'}, [](Player& p) { p.screen_.zoom().toggle_actual_size(), p.take_picture(); }},
      {{'g'}, [](Player& p) { p.with_graph_ = !p.with_graph_; }},
      {{'w'}, [](Player& p) { p.screen_.toggle_clipping(), p.take_picture(); }},
      {{'d'}, [](Player& p) { p.switch_device(); }},
      {{'s'}, [](Player& p) { p.save(save_jpeg); }},
      {{'S'}, [](Player& p) { p.save(save_picture); }},
      {{'c'}, [](Player& p) { p.change_view(); }},
      {{'-'}, [](Player& p) { p.change_gain(false); }},
      {{'+', '='}, [](Player& p) { p.change_gain(true); }},
      {{'q', SDLK_ESCAPE}, [](Player& p) { p.quits_ = true; }},
  };
  return kBindings;
}

void Player::press(SDL_Keycode key, bool is_repeat) {
  const auto find = [](SDL_Keycode wanted) {
    return std::ranges::find_if(bindings(), [wanted](const Binding& binding) {
      return std::ranges::find(binding.keys, wanted) != binding.keys.end();
    });
  };
  auto found = find(key);
  if (found == bindings().end() && key <= 'Z') found = find(std::tolower(key));
  if (key == 0 || found == bindings().end() || (is_repeat && !found->repeats)) return;
  needs_draw_ = true;
  found->act(*this);
  osd_text_.clear();
}

/// Letters and signs are read as text, so that the keyboard layout counts.
void Player::handle_key(const SDL_Event& event) {
  if (event.type == SDL_KEYDOWN) {
    is_held_ = event.key.repeat != 0;
    const SDL_Keycode key = event.key.keysym.sym;
    if (key < ' ' || key > 0xFF) press(key, is_held_);
  } else if (event.type == SDL_TEXTINPUT) {
    press(static_cast<unsigned char>(event.text.text[0]), is_held_);
  }
}

void Player::change_speed(double factor) {
  factor > 0 ? playback_.scale_speed(factor) : playback_.usual_speed();
  say(fmt::format("speed {:.2f}", playback_.speed()));
}

void Player::change_volume(int percent) {
  if (!sound_) return say("no sound");
  sound_->set_volume(std::clamp(sound_->volume() + percent, 0, 100));
  say(fmt::format("volume {} %{}", sound_->volume(), sound_->is_muted() ? ", muted" : ""));
}

void Player::toggle_mute() {
  if (!sound_) return say("no sound");
  sound_->set_muted(!sound_->is_muted());
  say(sound_->is_muted() ? "muted" : fmt::format("volume {} %", sound_->volume()));
}

void Player::change_gain(bool up) {
  screen_.scale_gain(up);
  say(fmt::format("difference x{}", screen_.gain()));
  take_picture();
}

void Player::change_view() {
  if (session_.other) screen_.next_view();
  take_picture();
}

void Player::switch_device() {
  if (!session_.input->has_packets()) return say("zerorun does not decode this input itself");
  const Backend wanted = session_.decoding.backend == Backend::cpu ? Backend::cuda : Backend::cpu;
  const int index = session_.decoding.device.index;
  const auto usable = resolve_backend(wanted, index);
  if (!usable) return say(usable.status().message());
  session_.set_backend(wanted, index);
  say(device_text(wanted, session_.decoding.device));
}

void Player::save(Save write) {
  if (playback_.shown() == nullptr) return;
  const auto path = write(*session_.input, *playback_.shown(), options_.save_to);
  say(path ? "saved " + *path : path.status().message());
}

}  // namespace zerorun::app
