// The command line of `zerorun play`, and what its keys do.
// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apps/common/options.hpp"

namespace zerorun::app {

struct KeyHelp {
  std::string_view keys;
  std::string_view text;
};
std::span<const KeyHelp> key_help() noexcept;

enum class CompareView { side, difference };

inline constexpr double kSlowest = 0.01, kFastest = 100.0;  ///< range of --speed

struct PlayOptions {
  InputOptions input;
  DeviceOptions device;
  std::string other;  ///< --compare
  CompareView view = CompareView::side;
  double start_seconds = 0.0;
  double speed = 1.0;
  bool loop = false;
  bool paused = false;
  bool full_screen = false;
  bool osd = false;
  int volume = 100;  ///< per cent
  bool mute = false;
  bool was_dropped = false;  ///< the input came by the mouse: the window stays if it is broken
  std::vector<std::string> then = {};  ///< dropped with the input, and played when it is over
  bool autoexit = false;
  bool no_window = false;
  bool json = false;
  std::string save_to = ".";
  bool quiet = false;
  bool verbose = false;
};

}  // namespace zerorun::app
