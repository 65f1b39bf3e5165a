// Counts forks, and knows whether CUDA was used before one.
// SPDX-License-Identifier: MIT
#include "apps/python/binding/forks.hpp"

#include <pthread.h>

#include <atomic>

#include "apps/python/binding/failure.hpp"

namespace zerorun::python {
namespace {

std::atomic<int> generation{0};
std::atomic<bool> uses_cuda{false};
std::atomic<bool> parent_used_cuda{false};

void after_fork_in_child() {
  generation.fetch_add(1);
  if (uses_cuda) parent_used_cuda = true;
}

}  // namespace

int fork_generation() noexcept { return generation; }

void watch_forks() { pthread_atfork(nullptr, nullptr, after_fork_in_child); }

void note_cuda_use() noexcept { uses_cuda = true; }

bool cuda_was_used_before_fork() noexcept { return parent_used_cuda; }

void check_cuda_after_fork() {
  if (parent_used_cuda)
    fail(Errc::no_device,
         "this process was forked from one that had used CUDA, and CUDA does not survive a fork; "
         "start the process by multiprocessing.get_context('spawn'), or use device='cpu'");
}

DeviceChoice usable_choice(DeviceChoice choice) {
#ifdef ZERORUN_HAVE_CUDA
  if (choice.backend == Backend::cuda) check_cuda_after_fork();
  if (choice.backend == Backend::automatic && parent_used_cuda) choice.backend = Backend::cpu;
  if (choice.backend != Backend::cpu) note_cuda_use();
#endif
  return choice;
}

}  // namespace zerorun::python
