// The version of zerorun, in one place; CMake reads it from here.
// SPDX-License-Identifier: MIT
#pragma once

#include "zerorun/export.hpp"

#define ZERORUN_VERSION_MAJOR 0
#define ZERORUN_VERSION_MINOR 1
#define ZERORUN_VERSION_PATCH 0

/// The number in the name of the shared libraries (libzerorun.so.0). It goes up when a program
/// that was linked with the library before would no longer work.
#define ZERORUN_ABI 0

namespace zerorun {

/// "MAJOR.MINOR.PATCH" of the library that is linked (the macros are those of the headers).
ZERORUN_API const char* version() noexcept;

}  // namespace zerorun
