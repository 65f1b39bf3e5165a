// Functions that g++ and nvcc both compile.
// SPDX-License-Identifier: MIT
#pragma once

#ifdef __CUDACC__
#define ZR_HD __host__ __device__ __forceinline__
#else
#define ZR_HD inline __attribute__((always_inline))
#endif
