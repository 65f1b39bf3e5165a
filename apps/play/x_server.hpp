// What SDL 2 leaves undone on an X server. Elsewhere these functions do nothing.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace zerorun::app {

/// A setting of the desktop, such as "Xft", "dpi"; empty if there is none.
std::string x_resource(const char* program, const char* name);

/// Returns when the server has done what SDL has asked for so far. Call it before a window is
/// destroyed: SDL wakes itself by messages to the window over a connection of their own, and Xlib
/// ends the process if one comes when the window is gone.
void wait_for_x_server();

}  // namespace zerorun::app
