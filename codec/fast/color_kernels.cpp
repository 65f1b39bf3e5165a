// The kernels for rows of pixels, for each instruction set.
// SPDX-License-Identifier: MIT
#include "codec/fast/color_kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codec/fast/color_kernels.cpp"
#include <hwy/foreach_target.h>

#include "codec/fast/color_rows-inl.hpp"
#include "codec/fast/resample_rows-inl.hpp"

#if ZR_FAST_TARGET
HWY_BEFORE_NAMESPACE();
namespace zerorun::fast::HWY_NAMESPACE {

constexpr ColorKernels kColorKernels{rgb_to_ycc_row, box_2,    ycc_to_rgb_row, fancy_2,
                                     fancy_1x2,      repeat_2, interleave,     split};

}  // namespace zerorun::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace zerorun::fast {

const ColorKernels& color_kernels([[maybe_unused]] CpuTarget target) {
#if HWY_ARCH_ARM_A64
  return N_NEON::kColorKernels;
#else
  if (target == CpuTarget::avx512) return N_AVX3::kColorKernels;
  if (target == CpuTarget::avx2) return N_AVX2::kColorKernels;
  return N_SSE4::kColorKernels;
#endif
}

}  // namespace zerorun::fast
#endif
