// Many small jobs on a few threads, interrupted by Ctrl-C.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>

namespace zerorun::python {

/// Runs job(item, worker) for items 0 to count-1 on up to `workers` threads. Worker n begins with
/// item n, and takes the next one that nobody has when it is done. Call it with the GIL held; jobs
/// run without it and must not throw. Errors: what a signal's handler raises, after the
/// jobs under way have ended.
void run_jobs(std::size_t count, int workers,
              const std::function<void(std::size_t item, int worker)>& job);

/// The caller's number, or one for each core (CPU) or as many as keep a GPU busy (CUDA).
int worker_count(int wanted, bool is_cuda, std::size_t items);

}  // namespace zerorun::python
