// How much larger than usual the system wants text to be.
// SPDX-License-Identifier: MIT
#pragma once

#include <SDL.h>

namespace zerorun::app {

/// Pixels of the window for each pixel of an ordinary screen (96 dots an inch), 1 to 8: what the
/// display server, the desktop's GDK_SCALE or QT_SCALE_FACTOR, or the X resource Xft.dpi says.
double display_scale(SDL_Window* window, SDL_Renderer* renderer);

}  // namespace zerorun::app
