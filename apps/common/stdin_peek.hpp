// Looking at the first bytes of stdin without consuming them.
// SPDX-License-Identifier: MIT
#pragma once

namespace zerorun::app {

/// True if the next two bytes of stdin are SOI, as in a JPEG stream. Waits for them on a pipe.
/// False on a terminal, where bytes cannot be seen without consuming them, and at the end.
bool stdin_begins_with_jpeg();

}  // namespace zerorun::app
