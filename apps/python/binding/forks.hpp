// fork(): a child has the memory of its parent, but neither its threads nor its CUDA devices.
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <utility>

#include "apps/python/binding/options.hpp"

namespace zerorun::python {

/// How many forks lie between this process and the one that imported the module.
int fork_generation() noexcept;

/// Registers with the system; once, when the module is imported.
void watch_forks();

/// Remembers that this process uses CUDA, which its children then cannot.
void note_cuda_use() noexcept;
bool cuda_was_used_before_fork() noexcept;
/// Errors: DeviceError in a child of a process that has used CUDA.
void check_cuda_after_fork();

/// The choice as the library gets it: in a child that cannot use CUDA, automatic means the CPU.
DeviceChoice usable_choice(DeviceChoice choice);

/// A pointer whose object a child neither uses nor destroys: its threads are gone, and a lock in it
/// may be held by one of them for ever.
template <typename T>
class ForkBound {
 public:
  ForkBound() = default;
  explicit ForkBound(std::shared_ptr<T> object)
      : object_(std::move(object)), generation_(fork_generation()) {}
  ForkBound(ForkBound&&) = delete;
  ForkBound& operator=(ForkBound&& other) noexcept {
    abandon_if_foreign();
    object_ = std::move(other.object_);
    generation_ = other.generation_;
    return *this;
  }
  ~ForkBound() { abandon_if_foreign(); }

  /// Null in a child of the process that made the object.
  std::shared_ptr<T> get() const { return is_foreign() ? nullptr : object_; }
  bool is_foreign() const noexcept { return object_ && generation_ != fork_generation(); }

 private:
  void abandon_if_foreign() noexcept {
    if (is_foreign()) (void)new std::shared_ptr<T>(std::move(object_));  // never released
  }

  std::shared_ptr<T> object_;
  int generation_ = 0;
};

}  // namespace zerorun::python
