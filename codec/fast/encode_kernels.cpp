// The fast encoder's kernels for each instruction set.
// SPDX-License-Identifier: MIT
#include "codec/fast/encode_kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codec/fast/encode_kernels.cpp"
#include <hwy/foreach_target.h>

#include "codec/fast/fdct_run-inl.hpp"
#include "codec/fast/code_run-inl.hpp"

#if ZR_FAST_TARGET
HWY_BEFORE_NAMESPACE();
namespace zerorun::fast::HWY_NAMESPACE {

constexpr EncodeKernels kEncodeKernels{transform_run, code_run, tokens_of_run, code_tokens, stuff};

}  // namespace zerorun::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace zerorun::fast {

void fill_quant_rows(const std::uint16_t* table, QuantRows& out) {
  for (int i = 0; i < kBlockSize; ++i) {
    const std::uint32_t divisor = 4u * table[i];
    std::uint32_t s = 1;
    while ((2u << s) < divisor) ++s;
    const std::uint32_t reciprocal = ((1u << (16 + s)) + divisor - 1) / divisor;
    for (int copy = 0; copy < 4; ++copy) {
      out.half[i / 8][8 * copy + i % 8] = static_cast<std::uint16_t>(divisor - 1);
      out.reciprocal[i / 8][8 * copy + i % 8] = static_cast<std::uint16_t>(reciprocal);
      out.scale[i / 8][8 * copy + i % 8] = static_cast<std::uint16_t>(1u << (16 - s));
    }
  }
}

const EncodeKernels& encode_kernels([[maybe_unused]] CpuTarget target) {
#if HWY_ARCH_ARM_A64
  return N_NEON::kEncodeKernels;
#else
  if (target == CpuTarget::avx512) return N_AVX3::kEncodeKernels;
  if (target == CpuTarget::avx2) return N_AVX2::kEncodeKernels;
  return N_SSE4::kEncodeKernels;
#endif
}

}  // namespace zerorun::fast
#endif
