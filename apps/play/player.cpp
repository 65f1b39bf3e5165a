// `zerorun play` in a window: handles events and draws frames.
// SPDX-License-Identifier: MIT
#include "apps/play/player.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "apps/common/console.hpp"
#include "apps/common/outputs.hpp"
#include "apps/common/pixel_limit.hpp"
#include "apps/common/signals.hpp"

extern "C" const char* zerorun_load_sdl();  // .cmake/load_at_run_time.cmake

namespace zerorun::app {
namespace {

ScreenView first_view(const PlayOptions& options) {
  if (options.other.empty()) return ScreenView::first;
  return options.view == CompareView::side ? ScreenView::side : ScreenView::difference;
}

/// The size for the window: both pictures beside each other, after rotation.
SDL_Point picture_size(const PlaySession& session) {
  const auto size_of = [](const PlayInput& input) {
    const io::SourceInfo& info = input.info();
    const double aspect = info.sample_aspect.known() ? info.sample_aspect.value() : 1.0;
    SDL_Point size{std::max(1, static_cast<int>(input.width() * aspect)), input.height()};
    if (info.rotation_degrees % 180 != 0) std::swap(size.x, size.y);
    return size;
  };
  SDL_Point size = size_of(*session.input);
  if (!session.other) return size;
  const SDL_Point second = size_of(*session.other);
  return {2 * std::max(size.x, second.x), std::max(size.y, second.y)};
}

}  // namespace

Player::Player(const PlayOptions& options, PlaySession& session, Window& window)
    : options_(options),
      session_(session),
      window_(window),
      screen_(window, session, first_view(options)),
      playback_(session, options),
      with_osd_(options.osd) {
  const std::string& problem = screen_.overlay().text().problem();
  if (!problem.empty()) console::note("text cannot be shown on the picture: " + problem);
  std::string silent;
  sound_ = Sound::open(*session.input, playback_.clock(), silent);
  if (!silent.empty()) console::note("the sound cannot be played: " + silent);
  if (!sound_) return;
  sound_->set_volume(options.volume);
  sound_->set_muted(options.mute);
}

void Player::run() {
  while (!quits_ && !has_dropped_ && signals::received() == 0) {
    if (playback_.advance()) take_picture();
    const bool is_hopeless = playback_.shown() == nullptr && !options_.was_dropped;
    if (playback_.is_at_end() && (options_.autoexit || is_hopeless || awaits_next())) break;
    follow_drag();
    update_overlay();
    if (needs_draw_) draw();
    SDL_Event event;
    const int wait_ms = static_cast<int>(playback_.wait_seconds() * 1e3);
    if (SDL_WaitEventTimeout(&event, std::max(wait_ms, 1)) == 0) continue;
    do handle(event);
    while (!quits_ && SDL_PollEvent(&event) != 0);
  }
}

void Player::take_picture() {
  take_new_picture();
  measure();
  if (Status status = screen_.update(playback_); !status) {
    if (status.code() == Errc::device_failure) fail(Exit::failed, status.message());
    say(status.detail());
  }
  needs_draw_ = true;
}

void Player::say(std::string sentence) {
  message_ = std::move(sentence);
  since_message_ = Stopwatch();
  needs_draw_ = true;
}

void Player::handle(const SDL_Event& event) {
  switch (event.type) {
    case SDL_WINDOWEVENT:
      handle_window(event.window);
      break;
    case SDL_RENDER_TARGETS_RESET:
    case SDL_RENDER_DEVICE_RESET:
      screen_.forget_textures();
      take_picture();
      break;
    case SDL_MOUSEWHEEL: {
      constexpr double kStep = 1.25;
      screen_.zoom_at(window_.mouse(), event.wheel.y > 0 ? kStep : 1 / kStep);
      take_picture();
      break;
    }
    case SDL_MOUSEMOTION:
      move_mouse(event.motion);
      break;
    case SDL_MOUSEBUTTONDOWN:
      press_mouse(event.button);
      break;
    case SDL_MOUSEBUTTONUP:
      release_mouse();
      break;
    case SDL_DROPTEXT:
    case SDL_DROPFILE:
    case SDL_DROPCOMPLETE:
      handle_drop(event.drop);
      break;
    case SDL_QUIT:
      quits_ = true;
      break;
    default:
      handle_key(event);
      break;
  }
}

void Player::handle_window(const SDL_WindowEvent& event) {
  needs_draw_ = true;
  if (event.event == SDL_WINDOWEVENT_RESIZED) window_.was_resized();
  if (event.event == SDL_WINDOWEVENT_DISPLAY_CHANGED || event.event == SDL_WINDOWEVENT_SIZE_CHANGED)
    window_.update_scale();
}

/// SDL sends an event for each file, and one behind the last.
void Player::handle_drop(const SDL_DropEvent& event) {
  if (event.type == SDL_DROPCOMPLETE) has_dropped_ = !dropped_.empty();
  if (event.file == nullptr) return;
  if (event.type == SDL_DROPFILE) dropped_.emplace_back(event.file);
  SDL_free(event.file);
}

PlayReport Player::report() const {
  PlayReport report = report_;
  session_.describe(report);
  report.seconds = since_start_.seconds();
  report.shown = playback_.shown_count();
  report.late = playback_.late_count();
  if (sound_) report.sound = sound_->report();
  if (report.shown == 0 && !playback_.first_problem() && !options_.was_dropped)
    fail_input(session_.input->name(), playback_.first_problem(), session_.input->info().is_jpeg);
  return report;
}

namespace {

std::string title_of(const PlayOptions& options) {
  return std::filesystem::path(options.input.name).filename().string() + " - zerorun";
}

/// Several pictures are a sequence, as on the command line; with videos among them, one is played
/// after the other.
void choose_input(std::vector<std::string> files, PlayOptions& options) {
  options.input.name = files.front();
  if (files.size() == 1) return;
  if (std::all_of(files.begin(), files.end(), [](const auto& f) { return is_images({f, {}, {}}); }))
    options.input.names = std::move(files);
  else
    options.then.assign(files.begin() + 1, files.end());
}

std::unique_ptr<PlaySession> open_dropped(std::vector<std::string> files, PlayOptions& options) {
  PlayOptions wanted = options;
  wanted.input = {};
  wanted.input.max_pixels = options.input.max_pixels;
  wanted.then.clear();
  choose_input(std::move(files), wanted);
  wanted.other.clear();
  wanted.start_seconds = 0;
  wanted.was_dropped = true;
  auto session = std::make_unique<PlaySession>(wanted);
  options = std::move(wanted);
  return session;
}

/// Plays until the window is closed (null), or files were dropped on it that can be played.
std::unique_ptr<PlaySession> play(Player& player, PlayOptions& options) {
  for (;;) {
    player.run();
    std::vector<std::string> files = player.take_dropped();
    if (files.empty() && player.awaits_next()) files = std::exchange(options.then, {});
    if (files.empty()) return nullptr;
    try {
      return open_dropped(files, options);
    } catch (const Failure& failure) {
      player.say(failure.what());
      // What follows a broken file is played all the same.
      options.then.assign(files.begin() + 1, files.end());
    }
  }
}

}  // namespace

Exit play_in_window(const PlayOptions& asked) {
  if (const char* error = zerorun_load_sdl())
    fail(Exit::device,
         std::string("no window can be opened: ") + error + "; --no-window decodes without one");
  const SdlVideo video;
  PlayOptions options = asked;
  auto session = std::make_unique<PlaySession>(options);
  const signals::Graceful graceful;  // only from here on, because opening may wait for a pipe
  const SDL_Point size = picture_size(*session);
  Window window(title_of(options), size.x, size.y, options.full_screen);
  for (;;) {
    auto player = std::make_unique<Player>(options, *session, window);
    auto next = play(*player, options);
    if (next == nullptr) {
      window.remember_size();
      if (signals::must_stop_now()) fail(Exit::failed, "stopped");
      print_report(player->report(), options.json);
      return Exit::done;
    }
    player.reset();  // it uses the session
    session = std::move(next);
    window.set_title(title_of(options));
  }
}

}  // namespace zerorun::app
