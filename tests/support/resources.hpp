// Processor time and memory that a call takes. Linux only.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace zerorun::test {

/// Tests take fewer inputs under AddressSanitizer and ThreadSanitizer.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

/// Processor time of all threads of the process so far. Unlike the wall clock it does not depend on
/// the load of the machine.
double process_seconds();

/// What a call may take. tests/campaign.sh measures on a machine that does nothing else, and sets
/// ZERORUN_TIMED: the limit is `seconds`, the figure that is promised. Anywhere else the limit only
/// tells a call that ends from one that does not.
double time_limit(double seconds);

/// How much the resident memory has grown at most since construction.
class PeakMemory {
 public:
  PeakMemory();
  std::size_t growth_bytes() const;

 private:
  std::size_t start_bytes_;
};

}  // namespace zerorun::test
