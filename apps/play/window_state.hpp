// The size that the window had when it was closed last.
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

namespace zerorun::app {

struct WindowSize {
  int width = 0, height = 0;
  bool operator==(const WindowSize&) const = default;
};

/// Nullopt if the file is missing, cannot be read or holds no size.
std::optional<WindowSize> remembered_window_size();
/// Nothing happens if the folder cannot be written.
void remember_window_size(const WindowSize& size);

}  // namespace zerorun::app
