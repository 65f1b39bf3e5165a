// The player in a window: its state, and what each part of it does.
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <span>
#include <string>

#include "apps/play/osd.hpp"
#include "apps/play/playback.hpp"
#include "apps/play/screen.hpp"

namespace zerorun::app {

/// Shows the frames that Playback chooses, and does what the keys ask for.
class Player {
 public:
  Player(const PlayOptions& options, PlaySession& session, Window& window);

  void run();
  PlayReport report() const;

 private:
  struct Binding;
  static std::span<const Binding> bindings();
  void handle(const SDL_Event& event);
  void handle_key(const SDL_Event& event);
  void press(SDL_Keycode key, bool is_repeat);
  void change_speed(double factor);  // 0: the usual speed
  void change_gain(bool up);
  void change_view();
  void switch_device();
  using Save = Result<std::string> (*)(const PlayInput&, const PlayFrame&, const std::string&);
  void save(Save write);
  void say(std::string sentence);
  void take_picture();
  void measure();
  void draw();

  const PlayOptions& options_;
  PlaySession& session_;
  Window& window_;
  Screen screen_;
  Playback playback_;
  Osd osd_;
  bool with_osd_, with_help_ = false, quits_ = false;
  bool is_held_ = false;  // the key of the last event
  bool needs_draw_ = true;
  std::string osd_text_, message_;
  Stopwatch since_start_, since_osd_, since_message_;
  std::optional<SquaredError> error_;  // of the pair that is shown
  PlayReport report_;                  // of the pairs so far
  std::int64_t compared_frame_ = -1;
};

}  // namespace zerorun::app
