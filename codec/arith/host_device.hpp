// Functions that g++ and nvcc both compile, functions for several instruction sets, and the integer
// arithmetic that sizes and grids need everywhere.
// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

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

namespace zerorun {

/// a / b rounded up, for a >= 0 and b > 0; no intermediate overflows.
template <typename A, typename B>
ZR_HD constexpr std::common_type_t<A, B> ceil_div(A a, B b) {
  return a / b + (a % b != 0);
}

/// The least multiple of `step` that is not below `value`.
template <typename A, typename B>
ZR_HD constexpr std::common_type_t<A, B> round_up(A value, B step) {
  return ceil_div(value, step) * step;
}

}  // namespace zerorun
