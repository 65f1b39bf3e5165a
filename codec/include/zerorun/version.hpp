// The version of zerorun, in one place; CMake reads it from here.
// SPDX-License-Identifier: MIT
#pragma once

#define ZERORUN_VERSION_MAJOR 0
#define ZERORUN_VERSION_MINOR 1
#define ZERORUN_VERSION_PATCH 0

namespace zerorun {

/// "MAJOR.MINOR.PATCH" of the library that is linked (the macros are those of the headers).
const char* version() noexcept;

}  // namespace zerorun
