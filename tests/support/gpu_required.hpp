// Whether a test may leave out what it cannot do without a GPU.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdlib>
#include <string>

namespace zerorun::test {

/// ZERORUN_REQUIRE_GPU=1 is set on machines that have a GPU, so that a skip there is a failure.
inline bool gpu_required() {
  const char* const value = std::getenv("ZERORUN_REQUIRE_GPU");
  return value != nullptr && std::string(value) == "1";
}

}  // namespace zerorun::test
