// Which of the 64 values of a block are not zero, as a bit mask.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "codec/arith/host_device.hpp"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace zerorun {

/// Bit k is set if v[k] != 0. The test of zero_run covers both forms.
ZR_HD std::uint64_t nonzero_mask(const std::int16_t* v) {
#ifdef __SSE2__
  const __m128i zero = _mm_setzero_si128();
  std::uint64_t zeros = 0;
  for (int i = 0; i < 4; ++i) {
    const auto* p = reinterpret_cast<const __m128i*>(v + 16 * i);
    const __m128i low = _mm_cmpeq_epi16(_mm_loadu_si128(p), zero);
    const __m128i high = _mm_cmpeq_epi16(_mm_loadu_si128(p + 1), zero);
    const auto bits = static_cast<unsigned>(_mm_movemask_epi8(_mm_packs_epi16(low, high)));
    zeros |= std::uint64_t{bits} << (16 * i);
  }
  return ~zeros;
#else
  std::uint64_t mask = 0;
  for (int k = 0; k < 64; ++k) mask |= std::uint64_t{v[k] != 0} << k;
  return mask;
#endif
}

}  // namespace zerorun
