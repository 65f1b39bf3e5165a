// operator new, malloc() and aligned_alloc() of a test program that fail at a wanted call.
// SPDX-License-Identifier: MIT
#include "tests/faults/failing_memory.hpp"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

extern "C" {
void* __real_malloc(std::size_t bytes);
void* __real_aligned_alloc(std::size_t alignment, std::size_t bytes);
void __real_free(void* memory);
}

namespace {

std::atomic<long> g_left{0};  // 1: the next allocation fails; 0 or less: none does
std::atomic<bool> g_lasting{false}, g_failed{false};
std::atomic<long> g_made{0}, g_live{0};

bool must_fail() noexcept {
  const bool is_it = g_left.load() > 0 && g_left.fetch_sub(1) == 1;
  if (is_it) g_failed = true;
  return is_it || (g_lasting && g_failed);
}

void* counted(void* memory) noexcept {
  if (memory != nullptr) ++g_made, ++g_live;
  return memory;
}

void* obtained(std::size_t bytes, std::size_t alignment) noexcept {
  if (must_fail()) return nullptr;
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  return counted(alignment <= alignof(std::max_align_t) ? __real_malloc(bytes == 0 ? 1 : bytes)
                                                        : __real_aligned_alloc(alignment, rounded));
}

void* obtained_or_thrown(std::size_t bytes, std::size_t alignment) {
  void* memory = obtained(bytes, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void returned(void* memory) noexcept {
  if (memory != nullptr) --g_live;
  __real_free(memory);
}

}  // namespace

extern "C" {
void* __wrap_malloc(std::size_t bytes) { return obtained(bytes, 1); }
void* __wrap_aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return obtained(bytes, alignment);
}
void __wrap_free(void* memory) { returned(memory); }
}

void* operator new(std::size_t bytes) { return obtained_or_thrown(bytes, 1); }
void* operator new[](std::size_t bytes) { return obtained_or_thrown(bytes, 1); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return obtained_or_thrown(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return obtained_or_thrown(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return obtained(bytes, 1); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return obtained(bytes, 1);
}
void operator delete(void* memory) noexcept { returned(memory); }
void operator delete[](void* memory) noexcept { returned(memory); }
void operator delete(void* memory, std::size_t) noexcept { returned(memory); }
void operator delete[](void* memory, std::size_t) noexcept { returned(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { returned(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { returned(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { returned(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { returned(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { returned(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { returned(memory); }

namespace zerorun::test::memory {

void fail_at(long number, bool lasting) noexcept {
  g_failed = false;
  g_lasting = lasting;
  g_left = number;
}

void let_all_pass() noexcept {
  g_left = 0;
  g_lasting = false;
}

bool has_failed() noexcept { return g_failed; }

long made() noexcept { return g_made; }
long live() noexcept { return g_live; }

}  // namespace zerorun::test::memory
