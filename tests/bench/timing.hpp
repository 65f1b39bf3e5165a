// What the programs that measure have in common: medians in microseconds.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "codec/base/step_times.hpp"
#include "zerorun/status.hpp"

namespace zerorun::test {

using Us = std::chrono::duration<double, std::micro>;

/// Ends the program if there is an error.
inline void check(const Status& status) {
  if (status) return;
  std::fprintf(stderr, "error: %s\n", status.message().c_str());
  std::exit(1);
}

/// The median of what nine calls return; four before them do not count.
template <typename Call>
double median_of(const Call& call) {
  std::vector<double> times;
  for (int turn = -4; turn < 9; ++turn)
    if (const double us = call(); turn >= 0) times.push_back(us);
  std::ranges::nth_element(times, times.begin() + 4);
  return times[4];
}

template <typename Call>
double time_of(const Call& call) {
  return median_of([&] {
    const auto begin = std::chrono::steady_clock::now();
    call();
    return Us(std::chrono::steady_clock::now() - begin).count();
  });
}

/// Of the kernels alone, by events of CUDA between the steps; 0 on the CPU.
template <typename Call>
double kernels_of(const Call& call) {
  return median_of([&] {
    DeviceSpans measured;
    call();
    double sum = 0;
    for (const DeviceSpan& span : measured.spans)
      if (span.step == DeviceStep::kernels) sum += Us(span.end - span.begin).count();
    return sum;
  });
}

}  // namespace zerorun::test
