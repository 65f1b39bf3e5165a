// The size that the window had when it was closed last.
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

namespace zerorun::app {

struct WindowSize {
  int width = 0, height = 0;
  bool operator==(const WindowSize&) const = default;
};

/// "zerorun/window" in the folder for state of the XDG base directories; empty if there is none.
std::string window_state_file();
/// Nullopt if the file is missing, cannot be read or holds no size.
std::optional<WindowSize> remembered_window_size();
/// Nothing happens if the folder cannot be written.
void remember_window_size(const WindowSize& size);

}  // namespace zerorun::app
