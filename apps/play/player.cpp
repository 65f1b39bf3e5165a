// SPDX-License-Identifier: MIT
#include "apps/play/player.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "apps/common/console.hpp"
#include "apps/common/outputs.hpp"
#include "apps/common/inputs.hpp"
#include "apps/common/signals.hpp"
#include "apps/common/text.hpp"
#include "apps/play/overlay.hpp"
#include "apps/play/session.hpp"
#include "codec/base/frame_distance.hpp"

extern "C" const char* zerorun_load_sdl();  // .cmake/load_at_run_time.cmake

namespace zerorun::app {
namespace {

std::string place_line(const PlayInput& input, const PlayFrame& frame) {
  const io::SourceInfo& info = input.info();
  std::string line = fmt::format("frame {}", frame.index);
  if (info.frame_count > 0) line += fmt::format(" of {}", info.frame_count);
  line += "  " + time_text(frame.at);
  if (const double all = input.duration_seconds(); all > 0) line += " of " + time_text(all);
  return line + fmt::format("  pts {}", frame.pts);
}

std::string mode_line(const Playback& playback) {
  std::string line = playback.is_at_end() ? "end" : playback.is_paused() ? "paused" : "playing";
  line += fmt::format("  speed {:.2f}", playback.speed());
  if (playback.loops()) line += "  loop";
  if (playback.a()) line += "  A " + time_text(*playback.a());
  if (playback.b()) line += "  B " + time_text(*playback.b());
  return line;
}

std::string picture_line(const PlayInput& input, const PlayFrame& frame) {
  const io::SourceInfo& info = input.info();
  return fmt::format("{}x{} {}{}  {}, {}  {} fps", frame.width, frame.height, input.sampling(),
                     frame.scale > 1 ? fmt::format(" at 1/{}", frame.scale) : "", info.container,
                     info.codec, rational_text(info.frame_rate));
}

std::string counts_line(const DecodeCounts& counts, const Playback& playback) {
  std::string line = fmt::format("dropped {}  late {}", counts.dropped, playback.late_count());
  if (counts.concealed > 0) line += fmt::format("  concealed {}", counts.concealed);
  if (counts.broken > 0) line += fmt::format("  broken {}", counts.broken);
  return line;
}

/// "PSNR 41.20 dB (Y Cb Cr 40.10, 44.00, 44.20)"
std::string psnr_text(const SquaredError& error, PixelFormat format) {
  const auto decibels = [](double db) {
    return std::isinf(db) ? std::string("equal") : fmt::format("{:.2f}", db);
  };
  if (std::isinf(error.psnr())) return "PSNR: all samples are equal";
  std::string text = fmt::format("PSNR {:.2f} dB ({} ", error.psnr(), psnr_components(format));
  for (int c = 0; c < error.components; ++c) text += (c == 0 ? "" : ", ") + decibels(error.psnr(c));
  return text + ")";
}

}  // namespace

double RateMeter::update(std::int64_t count) {
  constexpr double kWindow = 0.5;
  const double seconds = since_ ? since_->seconds() : 0.0;
  if (since_ && seconds < kWindow) return rate_;
  if (since_) rate_ = static_cast<double>(count - count_) / seconds;
  count_ = count;
  since_.emplace();
  return rate_;
}

std::string Osd::text(PlaySession& session, Playback& playback,
                      const std::optional<SquaredError>& error) {
  const PlayFrame* frame = playback.shown();
  if (frame == nullptr) return "waiting for the first frame";
  const DecodeCounts counts = session.frames->counts();
  std::string text = place_line(*session.input, *frame) + "\n" + mode_line(playback) + "\n" +
                     picture_line(*session.input, *frame) + "\n";
  text += fmt::format("shown {:.1f} fps  decoded {:.1f} fps  ",
                      shown_.update(playback.shown_count()), decoded_.update(counts.decoded));
  text += counts_line(counts, playback) + "\n";
  if (session.input->has_packets())
    text += fmt::format("decode {:.2f} ms  ahead {}  {} bytes  {:.1f} Mb/s\n{}", frame->decode_ms,
                        session.frames->waiting(),
                        with_commas(static_cast<std::int64_t>(frame->jpeg.size())),
                        playback.mean_bits_per_second() * 1e-6,
                        device_text(session.decoding.backend, session.decoding.device));
  else
    text += fmt::format("ahead {}  decoded as it is read", session.frames->waiting());
  if (session.other)
    text += fmt::format("\n{}", error ? psnr_text(*error, frame->frame.format()) : "PSNR -");
  return text;
}

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

PlaySession& fitted(PlaySession& session, const Screen& screen) {
  session.set_scale(screen.decoding_scale());
  return session;
}

}  // namespace

Player::Player(const PlayOptions& options, PlaySession& session, Window& window)
    : options_(options),
      session_(session),
      window_(window),
      screen_(window, session, first_view(options)),
      playback_(fitted(session, screen_), options),
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
    if (SDL_PollEvent(&event) == 0) {
      // Not SDL_WaitEventTimeout(): for that SDL wakes itself by messages to the window, and Xlib
      // ends the process if one comes when the window is gone.
      SDL_Delay(static_cast<Uint32>(std::clamp(playback_.wait_seconds() * 1e3, 1.0, 10.0)));
      continue;
    }
    do handle(event);
    while (!quits_ && SDL_PollEvent(&event) != 0);
  }
}

/// Frames that are decoded already keep their size; one that stands still is decoded once more.
void Player::follow_size() {
  session_.set_scale(screen_.decoding_scale());
  PlayFrame* const frame = playback_.shown();
  if (frame == nullptr || !is_still() || frame->scale <= session_.decoding.scale) return;
  auto again = decode_again(*frame, frame->frame.format(), session_.decoding.scale);
  if (!again) return;
  frame->frame = *std::move(again);
  frame->scale = session_.decoding.scale;
}

void Player::take_picture() {
  follow_size();
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
  if (event.event == SDL_WINDOWEVENT_DISPLAY_CHANGED || event.event == SDL_WINDOWEVENT_SIZE_CHANGED)
    window_.update_scale();
  if (event.event == SDL_WINDOWEVENT_SIZE_CHANGED) take_picture();
}

/// SDL sends an event for each file, and one after the last.
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
  const signals::Graceful graceful(
      "ending");  // only from here on, because opening may wait for a pipe
  const SDL_Point size = picture_size(*session);
  Window window(title_of(options), size.x, size.y, options.full_screen);
  for (;;) {
    auto player = std::make_unique<Player>(options, *session, window);
    auto next = play(*player, options);
    if (next == nullptr) {
      if (signals::must_stop_now()) fail(Exit::failed, "stopped");
      print_report(player->report(), options.json);
      return Exit::done;
    }
    player.reset();  // it uses the session
    session = std::move(next);
    window.set_title(title_of(options));
  }
}

constexpr double kBarSeconds = 2.0;  ///< the bar stays so long after the mouse has rested

/// An input whose length is not known, such as a pipe, has no bar.
bool Player::can_show_bar() const {
  return playback_.shown() != nullptr && session_.input->duration_seconds() > 0 &&
         session_.input->info().frame_count != 1;
}

bool Player::shows_bar() const {
  return can_show_bar() &&
         (is_dragging_ || (since_mouse_ && since_mouse_->seconds() < kBarSeconds));
}

void Player::press_mouse(const SDL_MouseButtonEvent& event) {
  if (event.button != SDL_BUTTON_LEFT) return;
  const SDL_FPoint point = window_.mouse();
  if (can_show_bar() && screen_.overlay().bar(session_.input->duration_seconds()).contains(point)) {
    is_dragging_ = true;
    drag_to(point);
  } else if (event.clicks == 2) {
    press('f', false);
  }
}

void Player::move_mouse(const SDL_MouseMotionEvent& event) {
  if (event.xrel == 0 && event.yrel == 0) return;  // the window came to the mouse
  since_mouse_.emplace();
  needs_draw_ = true;
  if (is_dragging_) return drag_to(window_.mouse());
  if (event.state & SDL_BUTTON_LMASK)
    screen_.zoom().move({static_cast<float>(event.xrel), static_cast<float>(event.yrel)});
}

void Player::release_mouse() {
  if (!is_dragging_) return;
  is_dragging_ = false;
  since_mouse_.emplace();
  if (drag_target_) playback_.seek_to(*drag_target_);
  drag_target_.reset();
}

void Player::drag_to(SDL_FPoint point) {
  const double duration = session_.input->duration_seconds();
  drag_target_ = screen_.overlay().bar(duration).time_at(point.x, duration);
  follow_drag();
}

/// Seeks to the last place of the knob, once the frame of the place before is shown: otherwise no
/// frame would be shown while the mouse moves.
void Player::follow_drag() {
  if (!drag_target_ || playback_.is_seeking()) return;
  playback_.seek_to(*drag_target_);
  drag_target_.reset();
  needs_draw_ = true;
}

namespace {

/// How long a message stays on the picture, the interval of updating numbers while playing, and of
/// measuring the similarity of a pair, which takes about as long as decoding it.
constexpr double kMessageSeconds = 2.5, kOsdSeconds = 0.1, kSsimSeconds = 0.5;

std::string help_text() {
  std::string text;
  for (const KeyHelp& key : key_help()) text += fmt::format("{:<14}{}\n", key.keys, key.text);
  text.pop_back();
  return text;
}

}  // namespace

/// Frames that were shown for the first time, for the graph.
void Player::take_new_picture() {
  if (playback_.shown_count() == graphed_frame_ || playback_.shown() == nullptr) return;
  graphed_frame_ = playback_.shown_count();
  graph_.add(playback_.shown()->decode_ms, since_picture_ ? since_picture_->seconds() * 1e3 : 0);
  since_picture_.reset();
  if (!is_still()) since_picture_.emplace();
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

void Player::measure_ssim() {
  if (!error_) {
    ssim_.reset();
    return;
  }
  const bool is_due = is_still() || !ssim_ || since_ssim_.seconds() > kSsimSeconds;
  if (ssim_frame_ == compared_frame_ || !is_due) return;
  ssim_frame_ = compared_frame_;
  since_ssim_ = Stopwatch();
  ssim_ = luma_ssim(playback_.shown()->frame.view(), playback_.other_shown()->frame.view());
  report_.add_ssim(*ssim_);
}

/// Texts that change although the picture does not.
void Player::update_overlay() {
  if (std::string told = playback_.take_message(); !told.empty()) say(std::move(told));
  if (!message_.empty() && since_message_.seconds() > kMessageSeconds) {
    message_.clear();
    needs_draw_ = true;
  }
  if (with_osd_ && since_osd_.seconds() > 5 * kOsdSeconds) needs_draw_ = true;
  if (shows_bar() != drew_bar_) needs_draw_ = true;
}

std::string Player::metrics_text() const {
  if (!session_.other) return {};
  if (!error_) return "no pair";
  std::string text = psnr_text(*error_, playback_.shown()->frame.format());
  if (ssim_) text += fmt::format("  SSIM {:.5f}", *ssim_);
  return text;
}

std::string Player::bottom_text() {
  if (!message_.empty() || !screen_.zoom().is_zoomed()) return message_;
  return screen_.probe(playback_);
}

void Player::draw() {
  if (with_osd_ && (osd_text_.empty() || is_still() || since_osd_.seconds() > kOsdSeconds)) {
    osd_text_ = osd_.text(session_, playback_, error_);
    since_osd_ = Stopwatch();
  }
  measure_ssim();
  OverlayContent content;
  if (with_osd_ && !with_help_) content.osd = osd_text_;  // there is room for only one
  if (with_help_) content.help = help_text();
  content.message = bottom_text();
  content.metrics = metrics_text();
  if (with_graph_ && !with_help_) content.graph = &graph_;
  drew_bar_ = shows_bar();
  if (drew_bar_)
    content.bar = {drag_target_.value_or(playback_.position()), session_.input->duration_seconds(),
                   playback_.decoded_until(), playback_.a(), playback_.b()};
  screen_.draw(std::move(content));
  needs_draw_ = false;
}

}  // namespace zerorun::app
