// `zerorun play` in a window: handles events and draws frames.
// SPDX-License-Identifier: MIT

#include <fmt/core.h>

#include <filesystem>
#include <functional>
#include <string>
#include <utility>

#include "apps/common/console.hpp"
#include "apps/common/pixel_limit.hpp"
#include "apps/common/signals.hpp"
#include "apps/play/compare.hpp"
#include "apps/play/events.hpp"
#include "apps/play/osd.hpp"
#include "apps/play/playback.hpp"
#include "apps/play/save_frame.hpp"
#include "apps/play/screen.hpp"

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

class Player {
 public:
  Player(const PlayOptions& options, PlaySession& session, Window& window)
      : options_(options),
        session_(session),
        window_(window),
        screen_(window, session, first_view(options)),
        playback_(session, options),
        with_osd_(options.osd) {
    if (!screen_.text().problem().empty())
      console::note("text cannot be shown on the picture: " + screen_.text().problem());
  }

  void run();
  PlayReport report() const;

 private:
  void handle(const SDL_Event& event);
  void act(Action action);
  void act_on_time(Action action);
  void act_on_view(Action action);
  void switch_device();
  void save(const Result<std::string>& path);
  void say(std::string sentence);
  void take_picture();
  void measure();
  void draw();

  const PlayOptions& options_;
  PlaySession& session_;
  Window& window_;
  Screen screen_;
  Playback playback_;
  KeyReader keys_;
  Osd osd_;
  bool with_osd_, with_help_ = false, quits_ = false;
  bool needs_draw_ = true;
  std::string osd_text_, message_;
  Stopwatch since_start_, since_osd_, since_message_;
  std::optional<SquaredError> error_, total_error_;
  std::int64_t compared_ = 0, compared_frame_ = -1;
};

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
  if (!error_) return;
  if (!total_error_) total_error_.emplace();
  total_error_->add(*error_);
  ++compared_;
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
      if (event.button.button == SDL_BUTTON_LEFT && event.button.clicks == 2)
        act(Action::full_screen);
      break;
    default:
      act(keys_.read(event));
      break;
  }
}

void Player::act(Action action) {
  if (action == Action::none) return;
  needs_draw_ = true;
  act_on_time(action);
  act_on_view(action);
  osd_text_.clear();
}

void Player::act_on_time(Action action) {
  Playback& p = playback_;
  const auto set_speed = [&](double factor) {
    factor > 0 ? p.scale_speed(factor) : p.usual_speed();
    say(fmt::format("speed {:.2f}", p.speed()));
  };
  const std::pair<Action, std::function<void()>> all[] = {
      {Action::pause, [&] { p.pause_or_go_on(); }},
      {Action::next_frame, [&] { p.step_forward(); }},
      {Action::previous_frame, [&] { p.step_back(); }},
      {Action::back_1_second, [&] { p.seek_by(-1); }},
      {Action::forward_1_second, [&] { p.seek_by(1); }},
      {Action::back_10_seconds, [&] { p.seek_by(-10); }},
      {Action::forward_10_seconds, [&] { p.seek_by(10); }},
      {Action::to_start, [&] { p.seek_to_start(); }},
      {Action::to_end, [&] { p.seek_to_end(); }},
      {Action::slower, [&] { set_speed(1 / 1.1); }},
      {Action::faster, [&] { set_speed(1.1); }},
      {Action::usual_speed, [&] { set_speed(0); }},
      {Action::loop, [&] { p.toggle_loop(), say(p.loops() ? "loop" : "no loop"); }},
      {Action::mark_a, [&] { p.mark_a(), say("A " + time_text(p.a().value_or(0))); }},
      {Action::mark_b, [&] { p.mark_b(), say("B " + time_text(p.b().value_or(0))); }},
      {Action::clear_marks, [&] { p.clear_marks(), say("no A, no B"); }},
  };
  for (const auto& [which, run] : all)
    if (which == action) run();
}

void Player::act_on_view(Action action) {
  const PlayFrame* shown = playback_.shown();
  const std::string& folder = options_.save_to;
  const auto change_gain = [this](bool up) {
    screen_.scale_gain(up);
    say(fmt::format("difference x{}", screen_.gain()));
    take_picture();
  };
  const std::pair<Action, std::function<void()>> all[] = {
      {Action::full_screen, [&] { window_.toggle_full_screen(); }},
      {Action::osd, [&] { with_osd_ = !with_osd_; }},
      {Action::help, [&] { with_help_ = !with_help_; }},
      {Action::zoom, [&] { screen_.zoom().toggle_actual_size(), take_picture(); }},
      {Action::device, [&] { switch_device(); }},
      {Action::save_jpeg,
       [&] {
         if (shown) save(save_jpeg(*session_.input, *shown, folder));
       }},
      {Action::save_picture,
       [&] {
         if (shown) save(save_picture(*session_.input, *shown, folder));
       }},
      {Action::view,
       [&] {
         if (session_.other) screen_.next_view();
         take_picture();
       }},
      {Action::less_gain, [&] { change_gain(false); }},
      {Action::more_gain, [&] { change_gain(true); }},
      {Action::quit, [&] { quits_ = true; }},
  };
  for (const auto& [which, run] : all)
    if (which == action) run();
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

void Player::save(const Result<std::string>& path) {
  say(path ? "saved " + *path : path.status().message());
}

PlayReport Player::report() const {
  PlayReport report;
  session_.describe(report);
  report.seconds = since_start_.seconds();
  report.shown = playback_.shown_count();
  report.late = playback_.late_count();
  report.error = total_error_;
  report.compared = compared_;
  if (playback_.shown() != nullptr) report.compared_format = playback_.shown()->frame.format();
  if (report.shown == 0 && !playback_.first_problem())
    fail_input(session_.input->name(), playback_.first_problem(), session_.input->info().is_jpeg);
  return report;
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

Exit play_in_window(const PlayOptions& options) {
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
