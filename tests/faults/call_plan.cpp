// The plan of the call that fails.
// SPDX-License-Identifier: MIT
#include "tests/faults/call_plan.hpp"

#include <mutex>

#include "tests/faults/stand_in_cudart.hpp"

namespace zerorun::test {
namespace {

std::mutex g_mutex;
std::atomic<bool> g_is_counting{false};  // otherwise a call costs one look at this
long g_calls = 0, g_wanted = 0;
cudaError_t g_error = cudaSuccess;
bool g_is_sticky = false, g_has_lost_work = false;
std::atomic<bool> g_is_dead{false};
thread_local cudaError_t g_last = cudaSuccess;

}  // namespace

namespace call_plan {

std::atomic<long> g_live{0};

cudaError_t fate(Kind kind) {
  if (!g_is_counting) return cudaSuccess;
  const std::lock_guard lock(g_mutex);
  const bool is_it = ++g_calls == g_wanted;
  if (is_it && g_is_sticky) g_is_dead = true;
  const cudaError_t error = g_is_dead || is_it ? g_error : cudaSuccess;
  if (error != cudaSuccess) g_last = error;
  if (g_is_dead && kind == Kind::work) g_has_lost_work = true;
  return error;
}

cudaError_t injected_error(bool forget) noexcept {
  if (g_is_dead) return g_error;
  const cudaError_t last = g_last;
  if (forget) g_last = cudaSuccess;
  return last;
}

}  // namespace call_plan

namespace stand_in {

void fail_at(long number, How how) {
  const std::lock_guard lock(g_mutex);
  g_is_counting = true;
  g_calls = 0;
  g_wanted = number;
  g_is_sticky = how == How::fault;
  g_is_dead = g_has_lost_work = false;
  g_error = how == How::memory  ? cudaErrorMemoryAllocation
            : how == How::fault ? cudaErrorIllegalAddress
                                : cudaErrorUnknown;
  g_last = cudaSuccess;
}

long calls() {
  const std::lock_guard lock(g_mutex);
  return g_calls;
}

bool has_lost_work() {
  const std::lock_guard lock(g_mutex);
  return g_has_lost_work;
}

bool is_over() {
  const std::lock_guard lock(g_mutex);
  return !g_is_sticky && g_wanted > 0 && g_calls >= g_wanted;
}

long live() noexcept { return call_plan::g_live; }

}  // namespace stand_in

}  // namespace zerorun::test
