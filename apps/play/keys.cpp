// What the keys of `zerorun play` do, for --help and for the help on the picture. player_keys.cpp
// does it.
// SPDX-License-Identifier: MIT
#include "apps/play/keys.hpp"

#include <fmt/core.h>

#include <array>

namespace zerorun::app {
namespace {

constexpr std::array kHelp{
    KeyHelp{"Space, p", "pause, continue"},
    KeyHelp{". ,", "one frame forward, back"},
    KeyHelp{"Right Left", "1 s forward, back"},
    KeyHelp{"Up Down", "10 s forward, back"},
    KeyHelp{"Home End", "first, last frame"},
    KeyHelp{"[ ] Backspace", "slower, faster, normal speed"},
    KeyHelp{"l", "loop"},
    KeyHelp{"a b, Shift+a", "loop from A to B, clear both"},
    KeyHelp{"m", "mute"},
    KeyHelp{"9 0", "volume down, up"},
    KeyHelp{"f", "full screen"},
    KeyHelp{"o, i", "information on the picture"},
    KeyHelp{"g", "graph of frame times, with the line of 60 frames/s"},
    KeyHelp{"w", "histogram, and clipped samples in false colours"},
    KeyHelp{"d", "decode on the other device, CPU or CUDA"},
    KeyHelp{"s", "save the JPEG of the frame, unchanged"},
    KeyHelp{"Shift+s", "save the frame as PNG"},
    KeyHelp{"mouse", "moved: seek bar; dropped files are played"},
    KeyHelp{"z", "1:1 with pixel values; wheel zooms, drag moves"},
    KeyHelp{"c", "comparing: side by side, difference, first, second"},
    KeyHelp{"- +", "comparing: gain of the difference"},
    KeyHelp{"h, F1", "these keys"},
    KeyHelp{"q, Esc", "quit"},
};

}  // namespace

std::span<const KeyHelp> key_help() noexcept { return kHelp; }

std::string keys_text() {
  std::string text;
  for (const KeyHelp& key : kHelp) text += fmt::format("  {:<32}{}\n", key.keys, key.text);
  return text;
}

}  // namespace zerorun::app
