// The fast decoder's kernels for each instruction set.
// SPDX-License-Identifier: MIT
#include "codec/fast/decode_kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codec/fast/decode_kernels.cpp"
#include <hwy/foreach_target.h>

#include "codec/fast/count_run-inl.hpp"
#include "codec/fast/decode_run-inl.hpp"
#include "codec/fast/idct_row-inl.hpp"

#if ZR_FAST_TARGET
HWY_BEFORE_NAMESPACE();
namespace zerorun::fast::HWY_NAMESPACE {

constexpr DecodeKernels kDecodeKernels{
    static_cast<int>(kVectorBlocks), decode_run, transform_row, unstuff, count_mcus, find_mcu};

}  // namespace zerorun::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace zerorun::fast {

void fill_dequant_rows(const std::uint16_t* table, DequantRows& out) {
  out.checked = false;
  for (int i = 0; i < kBlockSize; ++i) {
    // libjpeg multiplies in 16 x 16 bits: an entry above 32767 counts as negative.
    const auto q = static_cast<std::int16_t>(table[i]);
    out.checked |= i > 0 && (q < 0 || q * 1023 > 32767);  // any DC: see wrap_dc()
    for (int copy = 0; copy < 4; ++copy) out.row[i / 8][8 * copy + i % 8] = q;
  }
}

const DecodeKernels& decode_kernels([[maybe_unused]] CpuTarget target) {
#if HWY_ARCH_ARM_A64
  return N_NEON::kDecodeKernels;
#else
  if (target == CpuTarget::avx512) return N_AVX3::kDecodeKernels;
  if (target == CpuTarget::avx2) return N_AVX2::kDecodeKernels;
  return N_SSE4::kDecodeKernels;
#endif
}

}  // namespace zerorun::fast
#endif
