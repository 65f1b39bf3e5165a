// Hands errors on, and turns what the standard library throws into a Status.
// SPDX-License-Identifier: MIT
#pragma once

#include <new>

#include "zerorun/status.hpp"

/// Returns the Status of the expression from the function unless it is ok.
#define ZR_TRY(...)                                                                \
  do {                                                                             \
    if (::zerorun::Status zr_status = (__VA_ARGS__); !zr_status) return zr_status; \
  } while (false)

/// Names the value of a Result, or returns its Status from the function.
#define ZR_LET(name, ...)                    \
  auto zr_##name = (__VA_ARGS__);            \
  if (!zr_##name) return zr_##name.status(); \
  auto& name = *zr_##name

namespace zerorun {

/// Runs the body of a public function, which reports memory that ran out as a Status. `Body`
/// returns a Status or a Result.
template <typename Body>
auto guarded(const Body& body) -> decltype(body()) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return Status(Errc::out_of_memory);
  }
}

}  // namespace zerorun
