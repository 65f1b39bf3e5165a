// What the shared library shows; everything else in it is hidden.
// SPDX-License-Identifier: MIT
#pragma once

#if defined(__GNUC__)
#define ZERORUN_API [[gnu::visibility("default")]]
#else
#define ZERORUN_API
#endif
