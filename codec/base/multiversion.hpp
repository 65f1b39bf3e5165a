// Functions compiled for several instruction sets.
// SPDX-License-Identifier: MIT
#pragma once

// One function body, compiled for AVX2 and for the baseline, chosen when the program is loaded.
// Sanitizers instrument the resolver before they are ready for it, so they get the baseline alone.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define ZR_MULTIVERSION __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define ZR_MULTIVERSION
#endif
