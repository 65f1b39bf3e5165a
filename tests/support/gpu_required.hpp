// Whether tests that need a GPU may skip themselves.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdlib>
#include <string>

namespace zerorun::test {

/// ZERORUN_REQUIRE_GPU=1 is set on machines with a GPU, where a skipped test would hide a failure.
inline bool gpu_required() {
  const char* const value = std::getenv("ZERORUN_REQUIRE_GPU");
  return value != nullptr && std::string(value) == "1";
}

}  // namespace zerorun::test
