// What the mouse does in the player's window: zoom, move, and drag the bar.
// SPDX-License-Identifier: MIT
#include "apps/play/player.hpp"

namespace zerorun::app {
namespace {

constexpr double kBarSeconds = 2.0;  ///< the bar stays so long after the mouse has rested

}  // namespace

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

}  // namespace zerorun::app
