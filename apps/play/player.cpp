// `zerorun play` in a window: opens it, shows the frames that Playback chooses, and does what the
// keys and the mouse ask for; play.cpp has the same list of keys for people.
// SPDX-License-Identifier: MIT
#include <SDL.h>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "apps/common/figures.hpp"
#include "apps/common/input_output.hpp"
#include "apps/common/process.hpp"
#include "apps/play/overlay.hpp"
#include "apps/play/playback.hpp"
#include "apps/play/screen.hpp"
#include "apps/play/session.hpp"
#include "apps/play/window.hpp"
#include "codec/base/try.hpp"

extern "C" const char* zerorun_load_sdl();  // .cmake/load_at_run_time.cmake

namespace zerorun::app {
namespace {

/// A path that does not exist yet, from the name of the input (in a sequence: of the file) and the
/// index: NAME-INDEX.ext, or NAME-INDEX-2.ext and so on.
Result<std::string> free_path(const PlayInput& input, const PlayFrame& frame,
                              const std::string& directory, const char* extension) {
  std::string stem =
      std::filesystem::path(input.is_images() ? frame.name : input.name()).stem().string();
  if (stem == "-" || stem.empty()) stem = "stdin";
  const std::string base =
      (std::filesystem::path(directory) / fmt::format("{}-{:06}", stem, frame.index)).string();
  constexpr int kMostCopies = 1000;
  for (int copy = 1; copy <= kMostCopies; ++copy) {
    const std::string path =
        base + (copy > 1 ? fmt::format("-{}", copy) : std::string()) + "." + extension;
    std::error_code error;
    if (!std::filesystem::exists(path, error)) return path;
  }
  return Status(Errc::output_exists, "'" + base + "." + extension + "' and its copies");
}

/// Writes the bytes of the input unchanged. Returns the path.
Result<std::string> save_jpeg(const PlayInput& input, const PlayFrame& frame,
                              const std::string& directory) {
  if (frame.jpeg.empty())
    return Status(Errc::invalid_argument,
                  "this input is not a JPEG stream; Shift+s saves a picture");
  ZR_LET(path, free_path(input, frame, directory, "jpg"));
  ZR_LET(sink, io::open_packet_sink({path, "", {}, {path}}, {}));
  ZR_TRY(sink->write(frame.jpeg, {}));
  ZR_TRY(sink->finish());
  return path;
}

/// Writes PNG, or PPM in a build without OpenCV. JPEG is decoded again to RGB, with the chroma
/// filter of the decoder instead of the screen's.
Result<std::string> save_picture(const PlayInput& input, const PlayFrame& frame,
                                 const std::string& directory) {
  ZR_LET(path, free_path(input, frame, directory, io::features().opencv ? "png" : "ppm"));
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
  ZR_LET(sink, io::open_frame_sink({path, "", {}, {path}}, options));
  ZR_TRY(sink->write(view, {}));
  ZR_TRY(sink->finish());
  return path;
}

/// "PSNR 41.20 dB (Y Cb Cr 40.10, 44.00, 44.20)"
std::string psnr_text(const SquaredError& error, PixelFormat format) {
  if (std::isinf(error.psnr())) return "PSNR: all samples are equal";
  std::string text = fmt::format("PSNR {:.2f} dB ({} ", error.psnr(), psnr_components(format));
  for (int c = 0; c < error.components; ++c) {
    const double db = error.psnr(c);
    text += (c == 0 ? "" : ", ") + (std::isinf(db) ? "equal" : fmt::format("{:.2f}", db));
  }
  return text + ")";
}

/// Frames per second over the last half second or more.
class RateMeter {
 public:
  double update(std::int64_t count) {
    constexpr double kWindow = 0.5;
    if (since_ && since_->seconds() < kWindow) return rate_;
    if (since_) rate_ = static_cast<double>(count - count_) / since_->seconds();
    count_ = count;
    since_.emplace();
    return rate_;
  }

 private:
  std::optional<Stopwatch> since_;  // of the first call, when there is a picture
  std::int64_t count_ = 0;
  double rate_ = 0.0;
};

class Player {
 public:
  Player(const PlayOptions& options, PlaySession& session, Window& window)
      : options_(options),
        session_(session),
        window_(window),
        screen_(window, session, options.other.empty() ? View::first : options.view),
        playback_(session, options, screen_.decoding_scale()),
        with_osd_(options.osd) {
    const std::string& problem = screen_.overlay().text().problem();
    if (!problem.empty()) console::note("text cannot be shown on the picture: " + problem);
    std::string silent;
    sound_ = Sound::open(*session.input, playback_.clock(), silent);
    if (!silent.empty()) console::note("the sound cannot be played: " + silent);
    if (!sound_) return;
    sound_->volume = options.volume;
    sound_->is_muted = options.mute;
  }

  void run() {
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
      needs_draw_ = true;
    }
  }
  PlayReport report() const {
    PlayReport report = report_;
    session_.describe(report);
    report.seconds = since_start_.seconds();
    report.shown = playback_.shown_count();
    report.late = playback_.late_count();
    if (sound_) report.sound = sound_->report();
    if (report.shown == 0 && !playback_.first_problem() && !options_.was_dropped)
      fail_input(report.input, playback_.first_problem(), session_.input->info().is_jpeg);
    return report;
  }
  /// The files that were dropped on the window, and ended run(): they are to be played instead of
  /// the input. Empty if run() ended for another reason.
  std::vector<std::string> take_dropped() {
    return std::exchange(has_dropped_, false) ? std::exchange(dropped_, {})
                                              : std::vector<std::string>();
  }
  /// run() ended because the input did, and `PlayOptions::then` follows.
  bool awaits_next() const { return playback_.is_at_end() && !quits_ && !options_.then.empty(); }
  /// Shows a sentence on the picture.
  void say(std::string sentence) {
    message_ = std::move(sentence);
    since_message_ = Stopwatch();
    needs_draw_ = true;
  }

 private:
  /// How long the bar stays after the mouse has rested, and a message on the picture; the intervals
  /// of updating numbers while playing, and of measuring the similarity of a pair, which takes
  /// about as long as decoding it.
  static constexpr double kBarSeconds = 2.0, kMessageSeconds = 2.5, kOsdSeconds = 0.1,
                          kSsimSeconds = 0.5;

  struct Binding {
    std::array<SDL_Keycode, 3> keys;  // a character each, or a key that writes none; 0: unused
    void (*act)(Player&);
    bool repeats = false;  // while the key is held
  };
  /// Capital letters that are not listed mean the same as the small ones.
  static std::span<const Binding> bindings() {
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
        {{'['}, [](Player& p) { p.set_speed(p.playback_.speed() / 1.1); }, true},
        {{']'}, [](Player& p) { p.set_speed(p.playback_.speed() * 1.1); }, true},
        {{SDLK_BACKSPACE}, [](Player& p) { p.set_speed(1); }},
        {{'l'}, [](Player& p) { p.say(p.playback_.toggle_loop() ? "loop" : "no loop"); }},
        {{'a'}, [](Player& p) { p.say("A " + time_text(p.playback_.mark_a())); }},
        {{'b'}, [](Player& p) { p.say("B " + time_text(p.playback_.mark_b())); }},
        {{'A'}, [](Player& p) { p.playback_.clear_marks(), p.say("no A, no B"); }},
        {{'m'}, [](Player& p) { p.toggle_mute(); }},
        {{'9', '/'}, [](Player& p) { p.change_volume(-5); }, true},
        {{'0', '*'}, [](Player& p) { p.change_volume(5); }, true},
        {{'f'}, [](Player& p) { p.window_.toggle_full_screen(); }},
        {{'o', 'i'}, [](Player& p) { p.with_osd_ = !p.with_osd_; }},
        {{'h', '?', SDLK_F1}, [](Player& p) { p.with_help_ = !p.with_help_; }},
        {{'z'}, [](Player& p) { p.screen_.toggle_actual_size(), p.take_picture(); }},
        {{'g'}, [](Player& p) { p.with_graph_ = !p.with_graph_; }},
        {{'w'}, [](Player& p) { p.screen_.toggle_clipping(), p.take_picture(); }},
        {{'d'}, [](Player& p) { p.switch_device(); }},
        {{'s'}, [](Player& p) { p.save(save_jpeg); }},
        {{'S'}, [](Player& p) { p.save(save_picture); }},
        {{'c'}, [](Player& p) { p.screen_.next_view(), p.take_picture(); }},
        {{'-'}, [](Player& p) { p.change_gain(false); }},
        {{'+', '='}, [](Player& p) { p.change_gain(true); }},
        {{'q', SDLK_ESCAPE}, [](Player& p) { p.quits_ = true; }},
    };
    return kBindings;
  }
  void handle(const SDL_Event& event) {
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
  void handle_window(const SDL_WindowEvent& event) {
    if (event.event == SDL_WINDOWEVENT_DISPLAY_CHANGED ||
        event.event == SDL_WINDOWEVENT_SIZE_CHANGED)
      window_.update_scale();
    if (event.event == SDL_WINDOWEVENT_SIZE_CHANGED) take_picture();
  }
  /// SDL sends an event for each file, and one after the last.
  void handle_drop(const SDL_DropEvent& event) {
    if (event.type == SDL_DROPCOMPLETE) has_dropped_ = !dropped_.empty();
    if (event.file == nullptr) return;
    if (event.type == SDL_DROPFILE) dropped_.emplace_back(event.file);
    SDL_free(event.file);
  }
  /// Letters and signs are read as text, so that the keyboard layout counts.
  void handle_key(const SDL_Event& event) {
    if (event.type == SDL_KEYDOWN) {
      is_held_ = event.key.repeat != 0;
      const SDL_Keycode key = event.key.keysym.sym;
      if (key < ' ' || key > 0xFF) press(key, is_held_);
    } else if (event.type == SDL_TEXTINPUT) {
      press(static_cast<unsigned char>(event.text.text[0]), is_held_);
    }
  }
  void press(SDL_Keycode key, bool is_repeat) {
    const auto find = [](SDL_Keycode wanted) {
      return std::ranges::find_if(bindings(), [wanted](const Binding& binding) {
        return std::ranges::find(binding.keys, wanted) != binding.keys.end();
      });
    };
    auto found = find(key);
    if (found == bindings().end() && key <= 'Z') found = find(std::tolower(key));
    if (key == 0 || found == bindings().end() || (is_repeat && !found->repeats)) return;
    found->act(*this);
    osd_text_.clear();
  }
  void set_speed(double speed) {
    playback_.set_speed(speed);
    say(fmt::format("speed {:.2f}", playback_.speed()));
  }
  void change_gain(bool up) {
    say(fmt::format("difference x{}", screen_.scale_gain(up)));
    take_picture();
  }
  void change_volume(int percent) {
    if (!sound_) return say("no sound");
    sound_->volume = std::clamp(sound_->volume + percent, 0, 100);
    say(fmt::format("volume {} %{}", sound_->volume.load(), sound_->is_muted ? ", muted" : ""));
  }
  void toggle_mute() {
    if (!sound_) return say("no sound");
    sound_->is_muted = !sound_->is_muted;
    say(sound_->is_muted ? "muted" : fmt::format("volume {} %", sound_->volume.load()));
  }
  void switch_device() {
    if (!session_.input->has_packets()) return say("zerorun does not decode this input itself");
    const Backend wanted = session_.decoding.backend == Backend::cpu ? Backend::cuda : Backend::cpu;
    const auto usable = resolve_backend(wanted, session_.decoding.device.index);
    if (!usable) return say(usable.status().message());
    session_.set_backend(wanted);
    say(device_text(wanted, session_.decoding.device));
  }
  using Save = Result<std::string> (*)(const PlayInput&, const PlayFrame&, const std::string&);
  void save(Save write) {
    if (playback_.shown() == nullptr) return;
    const auto path = write(*session_.input, *playback_.shown(), options_.save_to);
    say(path ? "saved " + *path : path.status().message());
  }
  void take_picture() {
    follow_size();
    take_new_picture();
    measure();
    if (Status status = screen_.update(playback_); !status) {
      if (status.code() == Errc::device_failure) fail(Exit::failed, status.message());
      say(status.detail());
    }
    needs_draw_ = true;
  }
  /// Frames that are decoded already keep their size; one that stands still is decoded once more.
  void follow_size() {
    session_.set_scale(screen_.decoding_scale());
    PlayFrame* const frame = playback_.shown();
    if (frame == nullptr || !playback_.is_still() || frame->scale <= session_.decoding.scale)
      return;
    auto again = decode_again(*frame, frame->frame.format(), session_.decoding.scale);
    if (!again) return;
    frame->frame = *std::move(again);
    frame->scale = session_.decoding.scale;
  }
  /// Frames that were shown for the first time, for the graph.
  void take_new_picture() {
    if (std::exchange(graphed_frame_, playback_.shown_count()) == playback_.shown_count()) return;
    graph_.add(playback_.shown()->decode_ms, since_picture_ ? since_picture_->seconds() * 1e3 : 0);
    since_picture_.reset();
    if (!playback_.is_still()) since_picture_.emplace();
  }
  /// Measures the PSNR of each pair once.
  void measure() {
    if (!playback_.is_pair()) return error_.reset();
    if (std::exchange(compared_frame_, playback_.shown_count()) == playback_.shown_count()) return;
    const PlayFrame &shown = *playback_.shown(), &other = *playback_.other_shown();
    error_.reset();
    if (have_one_shape(shown, other)) error_ = report_.add_error(shown, other);
  }
  void measure_ssim() {
    if (!error_) return ssim_.reset();
    const bool is_due = playback_.is_still() || !ssim_ || since_ssim_.seconds() > kSsimSeconds;
    if (ssim_frame_ == compared_frame_ || !is_due) return;
    ssim_frame_ = compared_frame_;
    since_ssim_ = Stopwatch();
    ssim_ = report_.add_ssim(*playback_.shown(), *playback_.other_shown());
  }

  void press_mouse(const SDL_MouseButtonEvent& event) {
    if (event.button != SDL_BUTTON_LEFT) return;
    const SDL_FPoint point = window_.mouse();
    if (can_show_bar() &&
        screen_.overlay().bar(session_.input->duration_seconds()).contains(point)) {
      is_dragging_ = true;
      drag_to(point);
    } else if (event.clicks == 2) {
      press('f', false);
    }
  }
  void move_mouse(const SDL_MouseMotionEvent& event) {
    if (event.xrel == 0 && event.yrel == 0) return;  // the window came to the mouse
    since_mouse_.emplace();
    if (is_dragging_) return drag_to(window_.mouse());
    if (event.state & SDL_BUTTON_LMASK) screen_.move({float(event.xrel), float(event.yrel)});
  }
  void release_mouse() {
    if (!is_dragging_) return;
    is_dragging_ = false;
    since_mouse_.emplace();
    if (drag_target_) playback_.seek_to(*drag_target_);
    drag_target_.reset();
  }
  void drag_to(SDL_FPoint point) {
    const double duration = session_.input->duration_seconds();
    drag_target_ = screen_.overlay().bar(duration).time_at(point.x, duration);
    follow_drag();
  }
  /// Seeks to the last place of the knob, once the frame of the place before is shown: otherwise no
  /// frame would be shown while the mouse moves.
  void follow_drag() {
    if (!drag_target_ || playback_.is_seeking()) return;
    playback_.seek_to(*drag_target_);
    drag_target_.reset();
    needs_draw_ = true;
  }
  /// An input whose length is not known, such as a pipe, has no bar.
  bool can_show_bar() const {
    return playback_.shown() != nullptr && session_.input->duration_seconds() > 0 &&
           session_.input->info().frame_count != 1;
  }
  bool shows_bar() const {
    return can_show_bar() &&
           (is_dragging_ || (since_mouse_ && since_mouse_->seconds() < kBarSeconds));
  }

  /// Texts that change although the picture does not.
  void update_overlay() {
    if (std::string told = playback_.take_message(); !told.empty()) say(std::move(told));
    if (!message_.empty() && since_message_.seconds() > kMessageSeconds) {
      message_.clear();
      needs_draw_ = true;
    }
    if (with_osd_ && since_osd_.seconds() > 5 * kOsdSeconds) needs_draw_ = true;
    if (shows_bar() != drew_bar_) needs_draw_ = true;
  }
  void draw() {
    if (with_osd_ &&
        (osd_text_.empty() || playback_.is_still() || since_osd_.seconds() > kOsdSeconds)) {
      osd_text_ = information();
      since_osd_ = Stopwatch();
    }
    measure_ssim();
    OverlayContent content;
    if (with_osd_ && !with_help_) content.osd = osd_text_;  // there is room for only one
    for (const KeyHelp& key : key_help())
      if (with_help_)
        content.help +=
            fmt::format("{}{:<14}{}", content.help.empty() ? "" : "\n", key.keys, key.text);
    content.message = message_.empty() && screen_.is_zoomed() ? screen_.probe(playback_) : message_;
    content.metrics = metrics_text();
    if (with_graph_ && !with_help_) content.graph = &graph_;
    drew_bar_ = shows_bar();
    if (drew_bar_)
      content.bar = {drag_target_.value_or(playback_.position()),
                     session_.input->duration_seconds(), playback_.decoded_until(), playback_.a(),
                     playback_.b()};
    screen_.draw(std::move(content));
    needs_draw_ = false;
  }
  /// All lines of the information.
  std::string information() {
    const PlayFrame* const frame = playback_.shown();
    if (frame == nullptr) return "waiting for the first frame";
    const PlayInput& input = *session_.input;
    const io::SourceInfo& info = input.info();
    std::string text = fmt::format("frame {}", frame->index);
    if (info.frame_count > 0) text += fmt::format(" of {}", info.frame_count);
    text += "  " + time_text(frame->at);
    if (const double all = input.duration_seconds(); all > 0) text += " of " + time_text(all);
    text += fmt::format("  pts {}\n{}  speed {:.2f}", frame->pts,
                        playback_.is_at_end()   ? "end"
                        : playback_.is_paused() ? "paused"
                                                : "playing",
                        playback_.speed());
    if (playback_.loops()) text += "  loop";
    if (playback_.a()) text += "  A " + time_text(*playback_.a());
    if (playback_.b()) text += "  B " + time_text(*playback_.b());
    text +=
        fmt::format("\n{}x{} {}{}  {}, {}  {} fps\n", frame->width, frame->height, input.sampling(),
                    frame->scale > 1 ? fmt::format(" at 1/{}", frame->scale) : "", info.container,
                    info.codec, rational_text(info.frame_rate));
    const DecodeCounts counts = session_.frames->counts();
    text +=
        fmt::format("shown {:.1f} fps  decoded {:.1f} fps  dropped {}  late {}",
                    shown_rate_.update(playback_.shown_count()),
                    decoded_rate_.update(counts.decoded), counts.dropped, playback_.late_count());
    if (counts.concealed > 0) text += fmt::format("  concealed {}", counts.concealed);
    if (counts.broken > 0) text += fmt::format("  broken {}", counts.broken);
    if (input.has_packets())
      text += fmt::format("\ndecode {:.2f} ms  ahead {}  {} bytes  {:.1f} Mb/s\n{}",
                          frame->decode_ms, session_.frames->waiting(),
                          with_commas(static_cast<std::int64_t>(frame->jpeg.size())),
                          playback_.mean_bits_per_second() * 1e-6,
                          device_text(session_.decoding.backend, session_.decoding.device));
    else
      text += fmt::format("\nahead {}  decoded as it is read", session_.frames->waiting());
    if (session_.other)
      text += "\n" + (error_ ? psnr_text(*error_, frame->frame.format()) : "PSNR -");
    return text;
  }
  std::string metrics_text() const {
    if (!session_.other) return {};
    if (!error_) return "no pair";
    std::string text = psnr_text(*error_, playback_.shown()->frame.format());
    if (ssim_) text += fmt::format("  SSIM {:.5f}", *ssim_);
    return text;
  }

  const PlayOptions& options_;
  PlaySession& session_;
  Window& window_;
  Screen screen_;
  Playback playback_;
  std::unique_ptr<Sound> sound_;  // uses the clock of playback_; null without sound
  RateMeter shown_rate_, decoded_rate_;
  FrameGraph graph_;
  bool with_osd_, with_help_ = false, with_graph_ = false, quits_ = false;
  bool is_held_ = false;  // the key of the last event
  bool needs_draw_ = true;
  bool drew_bar_ = false;
  bool is_dragging_ = false;                // the knob of the bar
  std::optional<double> drag_target_;       // where it was dragged while the player was seeking
  std::optional<Stopwatch> since_mouse_;    // it was moved
  std::optional<Stopwatch> since_picture_;  // a frame was shown while playing
  std::string osd_text_, message_;
  Stopwatch since_start_, since_osd_, since_message_, since_ssim_;
  std::optional<SquaredError> error_;  // of the pair that is shown
  std::optional<double> ssim_;         // of frame `ssim_frame_`
  PlayReport report_;                  // of the pairs so far
  std::int64_t compared_frame_ = -1, ssim_frame_ = -1, graphed_frame_ = 0;
  std::vector<std::string> dropped_;  // so far; `has_dropped_`: no more of them follow
  bool has_dropped_ = false;
};

/// The size for the window: both pictures beside each other, after rotation.
SDL_Point picture_size(const PlaySession& session) {
  const auto size_of = [](const PlayInput& input) {
    const SDL_FPoint size = PictureShape::of(input).shown_size(true);
    return SDL_Point{std::max(1, static_cast<int>(size.x)), static_cast<int>(size.y)};
  };
  SDL_Point size = size_of(*session.input);
  if (!session.other) return size;
  const SDL_Point second = size_of(*session.other);
  return {2 * std::max(size.x, second.x), std::max(size.y, second.y)};
}

std::string title_of(const PlayOptions& options) {
  return std::filesystem::path(options.input.name).filename().string() + " - zerorun";
}

/// Several pictures are a sequence, as on the command line; with videos among them, one is played
/// after the other.
std::unique_ptr<PlaySession> open_dropped(const std::vector<std::string>& files,
                                          PlayOptions& options) {
  PlayOptions wanted = options;
  wanted.input = {};
  wanted.input.max_pixels = options.input.max_pixels;
  wanted.input.name = files.front();
  wanted.then.clear();
  const auto is_picture = [](const std::string& file) { return is_images({file, {}, {}}); };
  if (files.size() > 1 && std::ranges::all_of(files, is_picture))
    wanted.input.names = files;
  else
    wanted.then.assign(files.begin() + 1, files.end());
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
  if (const char* error = zerorun_load_sdl()) fail_without_window(error);
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
      player->report().print(options.json);
      return Exit::done;
    }
    player.reset();  // it uses the session
    session = std::move(next);
    window.set_title(title_of(options));
  }
}

}  // namespace zerorun::app
