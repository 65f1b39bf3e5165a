// What a call cost: processor time and memory. Linux.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace zerorun::test {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

/// Processor time of the process so far, all threads together: unlike the wall clock it does not
/// grow when other programs keep the machine busy.
double process_seconds();

/// Highest resident memory since construction, over that at construction.
class PeakMemory {
 public:
  PeakMemory();
  std::size_t growth_bytes() const;

 private:
  std::size_t start_bytes_;
};

}  // namespace zerorun::test
