// Functions that g++ and nvcc both compile, and functions for several instruction sets.
// SPDX-License-Identifier: MIT
#pragma once

#ifdef __CUDACC__
#define ZR_HD __host__ __device__ __forceinline__
#else
#define ZR_HD inline __attribute__((always_inline))
#endif

// Compiles a function for AVX2 and for the baseline; the loader chooses. Not under sanitizers,
// which instrument the resolver before their run time is ready.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define ZR_MULTIVERSION __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define ZR_MULTIVERSION
#endif
