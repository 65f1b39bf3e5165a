// `zerorun play` in a window: handles events and draws frames.
// SPDX-License-Identifier: MIT
#include "apps/play/player.hpp"

#include <fmt/core.h>

#include <filesystem>
#include <utility>

#include "apps/common/console.hpp"
#include "apps/common/pixel_limit.hpp"
#include "apps/common/signals.hpp"
#include "apps/play/compare.hpp"
#include "apps/play/keys.hpp"

extern "C" const char* zerorun_load_sdl();  // .cmake/load_at_run_time.cmake

namespace zerorun::app {
namespace {

/// How long a message stays on the picture, and the interval of updating numbers while playing.
constexpr double kMessageSeconds = 2.5, kOsdSeconds = 0.1;

std::string help_text() {
  std::string text;
  for (const KeyHelp& key : key_help()) text += fmt::format("{:<14}{}\n", key.keys, key.text);
  text.pop_back();
  return text;
}

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
  if (!screen_.text().problem().empty())
    console::note("text cannot be shown on the picture: " + screen_.text().problem());
}

void Player::run() {
  while (!quits_ && signals::received() == 0) {
    if (playback_.advance()) take_picture();
    if (playback_.is_at_end() && (options_.autoexit || playback_.shown() == nullptr)) break;
    if (std::string told = playback_.take_message(); !told.empty()) say(std::move(told));
    if (!message_.empty() && since_message_.seconds() > kMessageSeconds) {
      message_.clear();
      needs_draw_ = true;
    }
    // Rates change even if the picture does not.
    if (with_osd_ && since_osd_.seconds() > 5 * kOsdSeconds) needs_draw_ = true;
    if (needs_draw_) draw();
    SDL_Event event;
    const int wait_ms = static_cast<int>(playback_.wait_seconds() * 1e3);
    if (SDL_WaitEventTimeout(&event, std::max(wait_ms, 1)) == 0) continue;
    do handle(event);
    while (!quits_ && SDL_PollEvent(&event) != 0);
  }
}

void Player::take_picture() {
  measure();
  if (Status status = screen_.update(playback_); !status) {
    if (status.code() == Errc::device_failure) fail(Exit::failed, status.message());
    say(status.detail());
  }
  needs_draw_ = true;
}

/// Measures the PSNR of each pair once.
void Player::measure() {
  if (!session_.other || !playback_.is_pair()) {
    error_.reset();
    return;
  }
  if (playback_.shown_count() == compared_frame_) return;
  compared_frame_ = playback_.shown_count();
  error_ = compare_error(playback_.shown()->frame.view(), playback_.other_shown()->frame.view());
  if (error_) report_.add_error(*error_, playback_.shown()->frame.format());
}

void Player::draw() {
  const bool is_still = playback_.is_paused() || playback_.is_at_end();
  if (with_osd_ && (osd_text_.empty() || is_still || since_osd_.seconds() > kOsdSeconds)) {
    osd_text_ = osd_.text(session_, playback_, error_);
    since_osd_ = Stopwatch();
  }
  std::string bottom = message_;
  if (bottom.empty() && screen_.zoom().is_zoomed()) bottom = screen_.probe(playback_);
  const bool shows_osd = with_osd_ && !with_help_;  // there is room for only one
  screen_.draw(shows_osd ? osd_text_ : std::string(), bottom,
               with_help_ ? help_text() : std::string());
  needs_draw_ = false;
}

void Player::say(std::string sentence) {
  message_ = std::move(sentence);
  since_message_ = Stopwatch();
  needs_draw_ = true;
}

void Player::handle(const SDL_Event& event) {
  switch (event.type) {
    case SDL_WINDOWEVENT:
      needs_draw_ = true;
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
      if (event.motion.state & SDL_BUTTON_LMASK)
        screen_.zoom().move(
            {static_cast<float>(event.motion.xrel), static_cast<float>(event.motion.yrel)});
      needs_draw_ = needs_draw_ || screen_.zoom().is_zoomed();
      break;
    case SDL_MOUSEBUTTONDOWN:
      if (event.button.button == SDL_BUTTON_LEFT && event.button.clicks == 2) press('f', false);
      break;
    case SDL_QUIT:
      quits_ = true;
      break;
    default:
      handle_key(event);
      break;
  }
}

PlayReport Player::report() const {
  PlayReport report = report_;
  session_.describe(report);
  report.seconds = since_start_.seconds();
  report.shown = playback_.shown_count();
  report.late = playback_.late_count();
  if (report.shown == 0 && !playback_.first_problem())
    fail_input(session_.input->name(), playback_.first_problem(), session_.input->info().is_jpeg);
  return report;
}

Exit play_in_window(const PlayOptions& options) {
  if (const char* error = zerorun_load_sdl())
    fail(Exit::device,
         std::string("no window can be opened: ") + error + "; --no-window decodes without one");
  const SdlVideo video;
  PlaySession session(options);
  const signals::Graceful graceful;  // only from here on, because opening may wait for a pipe
  const SDL_Point size = picture_size(session);
  const std::string title =
      std::filesystem::path(options.input.name).filename().string() + " - zerorun";
  Window window(title, size.x, size.y, options.full_screen);
  Player player(options, session, window);
  player.run();
  if (signals::must_stop_now()) fail(Exit::failed, "stopped");
  print_report(player.report(), options.json);
  return Exit::done;
}

}  // namespace zerorun::app
