// What several lanes do at once while no clock runs.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <system_error>
#include <thread>
#include <vector>

#include "zerorun/status.hpp"

namespace zerorun::app::bench {

/// Calls `work` with 0 .. count - 1, each in a thread. 0 is for the calling thread, which may drive
/// that lane later. Returns the error of the smallest number.
template <typename Work>
Status side_by_side(std::size_t count, const Work& work) {
  std::vector<Status> found(count);
  std::vector<std::thread> threads;
  try {
    for (std::size_t i = 1; i < count; ++i)
      threads.emplace_back([&found, &work, i] { found[i] = work(i); });
  } catch (const std::system_error&) {
    found.back() = Status(Errc::out_of_memory, "for so many threads");
  }
  if (count > 0) found[0] = work(0);
  for (std::thread& thread : threads) thread.join();
  for (const Status& status : found)
    if (!status) return status;
  return Status::ok();
}

}  // namespace zerorun::app::bench
