// Integer arithmetic that sizes and grids need everywhere.
// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "codec/arith/host_device.hpp"

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
