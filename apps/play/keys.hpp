// What the keys of `zerorun play` do.
// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace zerorun::app {

enum class Action {
  none,
  pause,
  next_frame,
  previous_frame,
  back_1_second,
  forward_1_second,
  back_10_seconds,
  forward_10_seconds,
  to_start,
  to_end,
  slower,
  faster,
  usual_speed,
  loop,
  mark_a,
  mark_b,
  clear_marks,
  full_screen,
  osd,
  device,
  save_jpeg,
  save_picture,
  zoom,
  view,
  less_gain,
  more_gain,
  help,
  quit,
};

struct KeyHelp {
  std::string_view keys;
  std::string_view text;
};
std::span<const KeyHelp> key_help() noexcept;

/// The same as text, a line per entry.
std::string keys_text();

}  // namespace zerorun::app
