// The player: shows the frames that Playback chooses, and what the keys and the mouse do.
// SPDX-License-Identifier: MIT
#pragma once

#include <SDL.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "apps/common/figures.hpp"
#include "apps/play/playback.hpp"
#include "apps/play/screen.hpp"
#include "apps/play/sound.hpp"

namespace zerorun::app {

/// Frames per second over the last half second or more.
class RateMeter {
 public:
  double update(std::int64_t count);

 private:
  std::optional<Stopwatch> since_;  // of the first call, when there is a picture
  std::int64_t count_ = 0;
  double rate_ = 0.0;
};

class Osd {
 public:
  /// All lines of the information.
  std::string text(PlaySession& session, Playback& playback,
                   const std::optional<SquaredError>& error);

 private:
  RateMeter shown_, decoded_;
};

/// Shows the frames that Playback chooses, and does what the keys and the mouse ask for.
class Player {
 public:
  Player(const PlayOptions& options, PlaySession& session, Window& window);

  void run();
  PlayReport report() const;
  /// The files that were dropped on the window, and ended run(): they are to be played instead of
  /// the input. Empty if run() ended for another reason.
  std::vector<std::string> take_dropped() {
    return std::exchange(has_dropped_, false) ? std::exchange(dropped_, {})
                                              : std::vector<std::string>();
  }
  /// run() ended because the input did, and `PlayOptions::then` follows.
  bool awaits_next() const { return playback_.is_at_end() && !quits_ && !options_.then.empty(); }
  /// Shows a sentence on the picture.
  void say(std::string sentence);

 private:
  struct Binding;
  static std::span<const Binding> bindings();
  void handle(const SDL_Event& event);
  void handle_window(const SDL_WindowEvent& event);
  void handle_drop(const SDL_DropEvent& event);
  void handle_key(const SDL_Event& event);
  void press(SDL_Keycode key, bool is_repeat);
  void change_speed(double factor);  // 0: the usual speed
  void change_gain(bool up);
  void change_volume(int percent);
  void toggle_mute();
  void change_view();
  void switch_device();
  using Save = Result<std::string> (*)(const PlayInput&, const PlayFrame&, const std::string&);
  void save(Save write);
  void take_picture();
  void follow_size();
  void take_new_picture();
  void measure();
  void measure_ssim();
  bool is_still() const noexcept { return playback_.is_paused() || playback_.is_at_end(); }

  void press_mouse(const SDL_MouseButtonEvent& event);
  void move_mouse(const SDL_MouseMotionEvent& event);
  void release_mouse();
  void drag_to(SDL_FPoint point);
  void follow_drag();
  bool can_show_bar() const;
  bool shows_bar() const;

  void update_overlay();
  void draw();
  std::string bottom_text();
  std::string metrics_text() const;

  const PlayOptions& options_;
  PlaySession& session_;
  Window& window_;
  Screen screen_;
  Playback playback_;
  std::unique_ptr<Sound> sound_;  // uses the clock of playback_; null without sound
  Osd osd_;
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

}  // namespace zerorun::app
