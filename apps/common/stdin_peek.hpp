// What begins on stdin, without taking it away.
// SPDX-License-Identifier: MIT
#pragma once

namespace zerorun::app {

/// True if the next two bytes of stdin are a JPEG stream's SOI. Waits for them on a pipe. False
/// where stdin can only be looked at by reading it (a terminal), or has ended.
bool stdin_begins_with_jpeg();

}  // namespace zerorun::app
